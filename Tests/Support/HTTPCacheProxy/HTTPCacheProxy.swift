import ArgumentParser
import Foundation
import HalcyonHTTP
import HalcyonWork

/// A reverse proxy that caches: so that test suites written elsewhere can be run against the response table,
/// the transport and the decisions that images are loaded with. It is no product.
@main
struct HTTPCacheProxy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-cache-proxy",
        abstract: "Answer requests from a cache, and ask a server for what is missing or stale.",
        discussion: """
            Listens on the loopback interface. Whatever the type of the content, GET is answered by the \
            rules for images; other methods are passed through. Answers have Cache-Status, and Age when \
            they come from the cache.

            With --manual-clock the time of the cache stands still, and POST /.clock?advance=SECONDS \
            moves it, when what is done in the background has ended. GET /.clock tells it, in seconds \
            since 1970.
            """)

    @Option(help: "Where to listen; 0 for any free port, which is printed.")
    var port = 0

    @Option(help: ArgumentHelp("The server to ask.", valueName: "url"))
    var upstream: String

    @Option(help: "For one user, or for several.")
    var role = Role.private

    @Option(
        help: ArgumentHelp(
            "Where to keep responses; by default in a folder that is removed at the end.",
            valueName: "folder"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "A field that takes the place of Cache-Control, in the shared role; may be repeated.",
            valueName: "field"))
    var targeted: [String] = []

    @Flag(help: "Move the clock by requests only.")
    var manualClock = false

    enum Role: String, ExpressibleByArgument, CaseIterable {
        case `private`, shared
    }

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("There is no such port.") }
        guard let url = URL(string: upstream), url.scheme == "http" || url.scheme == "https",
            url.host != nil
        else { throw ValidationError("--upstream is no http or https URL.") }
    }

    func run() async throws {
        var caching = role == .shared ? HTTPCaching.shared : .on
        caching.targetedFields = targeted
        let folder =
            store.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent(
                "http-cache-proxy-\(UUID().uuidString)", isDirectory: true)
        let proxy = try await CachingProxy.start(
            port: port, upstream: upstream, caching: caching, folder: folder,
            clock: ProxyClock(isManual: manualClock))
        print("listening on http://127.0.0.1:\(proxy.port)")
        // A parent that reads this from a pipe waits for it.
        fflush(nil)
        await Self.interruption()
        try await proxy.stop()
        // What cannot be removed is in a folder for temporary files.
        if store == nil { try? FileManager.default.removeItem(at: folder) }
    }

    /// Returns when the process is asked to end.
    private static func interruption() async {
        let isOver = OneShot<Void>()
        let listening = ProcessSignals.listen(to: [SIGINT, SIGTERM]) { _ in isOver.give(()) }
        await isOver.value
        listening.cancel()
    }
}
