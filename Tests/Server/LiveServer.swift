import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonSamples
import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Logging
import Testing
import Tracing

/// An image server on a free port, with a folder for its caches that goes with it.
final class LiveServer: Sendable {
    let server: ImageServer
    let listening: ListeningServer
    let log = Recorder<LoggedEvent>()
    private let folder: TemporaryDirectory
    private let pictures: TemporaryDirectory?

    /// Changes what a server is started with.
    typealias Change = (inout ImageServerConfiguration) throws -> Void

    /// Serves the sample pictures without signatures, unless `change` says otherwise.
    ///
    /// - Parameters:
    ///   - origin: A server whose pictures may be sources.
    ///   - redis: Shared with other servers.
    ///   - files: The local sources by their names, in place of the samples.
    static func start(
        _ origin: OriginServer? = nil, _ redis: RedisServer? = nil, files: [String: Data]? = nil,
        tracer: any Tracer = NoOpTracer(), origins: [String: any ImageOrigin] = [:],
        time: TimeSource = .system, _ change: Change = { _ in }
    ) async throws -> LiveServer {
        let pictures = try files.map { _ in try TemporaryDirectory() }
        for (name, data) in files ?? [:] { try pictures?.write(data, to: name) }
        return try await LiveServer(tracer, origins, time, pictures) {
            if let pictures { $0.sources.local.root = pictures.url.path }
            if let origin { $0.takeSources(of: origin) }
            if let redis {
                $0.shared.redis.address = .unix(path: redis.path)
                // For a busy machine.
                $0.shared.redis.timeout = .seconds(240)
                $0.shared.redis.lease = .seconds(30)
            }
            try change(&$0)
        }
    }

    /// Some servers that share a Redis.
    static func several(
        _ count: Int, _ origin: OriginServer, _ redis: RedisServer, _ change: Change = { _ in }
    ) async throws -> [LiveServer] {
        var servers: [LiveServer] = []
        for _ in 0..<count { servers.append(try await start(origin, redis, change)) }
        return servers
    }

    private init(
        _ tracer: any Tracer, _ origins: [String: any ImageOrigin], _ time: TimeSource,
        _ pictures: TemporaryDirectory?, _ change: Change
    ) async throws {
        folder = try TemporaryDirectory()
        self.pictures = pictures
        var configuration = ImageServerConfiguration()
        configuration.bind = [.tcp(host: "127.0.0.1", port: 0)]
        configuration.operationsBind = .tcp(host: "127.0.0.1", port: 0)
        configuration.signature.isRequired = false
        configuration.sources.local.root = try SamplePictures().directory.path
        configuration.cache.directory = folder.url.path
        configuration.log.showsHits = true
        configuration.playground = false
        configuration.drain.idleTimeout = .milliseconds(100)
        // For a busy machine; tests of limits set their own.
        configuration.work.requestTimeout = .seconds(240)
        configuration.work.writeTimeout = .seconds(240)
        configuration.sources.http.connectTimeout = .seconds(240)
        configuration.sources.http.stallTimeout = .seconds(240)
        configuration.sources.http.totalTimeout = .seconds(240)
        try change(&configuration)
        let log = log
        server = try ImageServer(
            configuration: configuration, origins: origins,
            logger: Logger(label: "test") { _ in RecordingLogHandler(log: log) },
            tracer: tracer, time: time)
        listening = try await ListeningServer.start(server)
    }

    deinit { Task { [listening] in await listening.stop() } }

    var port: Int { listening.ports[0] }

    /// Waits until `count` requests have ended because their clients have left.
    func waitForClientsThatLeave(_ count: Int) async {
        await log.wait { $0.count { $0.message == "request" && $0["status"] == "499" } >= count }
    }

    /// Waits until connections without requests that were opened after all others have been idle for too long, four
    /// times over; some at once, as they are spread over threads that know nothing of each other's time.
    func waitForIdleEnds() async throws {
        for _ in 0..<4 {
            let others = try (0..<8).map { _ in try RawClient(port: port) }
            for other in others { _ = await other.read() }
        }
    }

    /// The lines of the log about requests, once there are so many.
    func loggedRequests(_ count: Int) async -> [LoggedEvent] {
        await log.wait { $0.count { $0.message == "request" } >= count }
            .filter { $0.message == "request" }
    }

    /// The first line of the log about a request, once there is one.
    func loggedRequest() async throws -> LoggedEvent { try #require(await loggedRequests(1).first) }

    /// That of `/plain/local:///china.jpg`.
    static let signature = "3880GaJksVFXnpVpq-zNwlnlxCBbv0BR1vshakEVp94"

    static var samples: String? { try? SamplePictures().directory.path }

    /// The bytes of a sample.
    static func sample(_ name: String) throws -> Data {
        try Data(contentsOf: SamplePictures().directory.appendingPathComponent(name))
    }

    struct Answer: Sendable {
        let status: Int
        let fields: HTTPFields
        let body: Data

        subscript(name: String) -> String? { fields.first(name) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Sends a request to the public address, or to that of operations.
    func ask(
        _ target: String, method: String = "GET", fields: [String: String] = [:],
        body: Data? = nil, operations: Bool = false
    ) async throws -> Answer {
        let port = operations ? try #require(listening.operationsPort) : port
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(target)"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        // Without one the client would name some.
        request.allHTTPHeaderFields = ["Accept": "*/*"].merging(fields) { $1 }
        return try await Answer(to: request)
    }
}

extension LiveServer.Answer {
    /// That of whatever server the request goes to; redirects are not followed.
    ///
    /// - Parameter stall: How long nothing may come.
    init(to request: URLRequest, stall: Duration = .seconds(240)) async throws {
        var client = HTTPClientConfiguration()
        client.connectTimeout = 60
        client.usesEnvironmentProxies = false
        client.connectionsPerHost = 200
        let (head, body) = try await CurlTransport.shared(for: client).answer(
            to: request, terms: ExchangeTerms(stall: stall))
        status = head.status
        fields = head.fields
        self.body = body
    }
}

struct LoggedEvent: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata

    /// A value as text.
    subscript(name: String) -> String? { metadata[name].map { "\($0)" } }
}

private struct RecordingLogHandler: LogHandler {
    let log: Recorder<LoggedEvent>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.record(
            LoggedEvent(
                level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
    }
}

extension ImageServerConfiguration {
    /// Lets URLs name what is at `origin`.
    mutating func takeSources(of origin: OriginServer) {
        sources.http.allow = ["http://127.0.0.1:*"]
        sources.http.ports = [origin.port]
        sources.http.allowsLoopback = true
    }

    /// Has IIIF, with the pictures of a folder; the samples by default.
    mutating func serveIIIF(_ folder: String? = LiveServer.samples) {
        iiif.isEnabled = true
        iiif.directories = [folder ?? ""]
    }

    /// Has URLs be signed, as ``LiveServer/signature`` is.
    mutating func requireSignatures() {
        signature.keys = ["736563726574"]
        signature.salts = ["68656c6c6f"]
        signature.isRequired = true
    }

    /// Has whoever wants a source that is older than this wait until its server was asked for it again.
    mutating func askAgain(after age: Duration = .zero) {
        sources.freshness = age
        cache.staleWhileRevalidate = .zero
    }
}

extension String {
    /// The path of a sample with options, and with a format such as `@png`.
    static func china(_ options: String = "", _ format: String = "") -> String {
        "/_/" + (options.isEmpty ? "" : options + "/") + "plain/local:///china.jpg" + format
    }
}

extension String {
    /// What is said of a purge.
    static func purged(_ results: Int, _ sources: Int, told: Bool? = nil) -> String {
        let told = told.map { ",\"told\":\($0)" } ?? ""
        return "{\"results\":\(results),\"sources\":\(sources)\(told)}\n"
    }
}

extension PNGFixture {
    /// The picture of an origin that tests of servers fetch, 40 × 20.
    static let green = solid(Pixel(10, 200, 30), width: 40, height: 20)
    /// The one that takes its place.
    static let red = solid(Pixel(200, 10, 30), width: 40, height: 20)
}

extension OriginServer {
    /// The path of an image server for a picture that is here.
    func target(_ path: String = "/a.png", _ options: String = "w:10") -> String {
        "/_/\(options)/plain/\(url(path).absoluteString)"
    }

    /// One whose answer for `/a.png` waits until the gate is open.
    static func gated(
        _ response: OriginResponse = .png(PNGFixture.green)
    ) async throws -> (OriginServer, Gate) {
        let (origin, gate) = (try await start(), Gate())
        origin.route("/a.png", response.with(.wait(.gate(gate))))
        return (origin, gate)
    }
}
