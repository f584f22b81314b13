import ArgumentParser
import Foundation
import Halcyon
import HalcyonHTTP
import Synchronization

struct CacheResponsesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "responses",
        abstract: "List the servers' responses that cached images were made of.",
        usage: "halcyon cache responses [<options>]",
        discussion: """
            Those used last first; also redirects and errors that are remembered. There are some when \
            images were loaded with HTTP caching. With --json, one object per response and line: url, \
            status, age, freshUntil, isFresh, isInvalidated, etag, lastModified, images.
            """)

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console, cache in
            let entries = try await BlockingWork.run { try cache?.diskStorage.entries() ?? [] }
            let keys = Dictionary(
                entries.map { ($0.fileName, $0.key ?? $0.fileName) }, uniquingKeysWith: { $1 })
            let table = Mutex(
                Table(
                    .init(title: "status", alignment: .right),
                    .init(title: "age", alignment: .right), .init(title: "fresh until"),
                    .init(title: "validators"), .init(title: "images", alignment: .right),
                    .init(title: "url")))
            try await cache?.forEachHTTPResponse { response in
                let images = response.fileNames.map { keys[$0] ?? $0 }
                let line = ResponseLine(response: response, images: images, now: Date())
                if options.json {
                    try console.printNow(line.json.jsonText)
                } else {
                    table.withLock { $0.add(line.row) }
                }
            }
            if !options.json { console.print(table.withLock { $0.lines }) }
        }
    }
}

/// The output row of a response.
private struct ResponseLine {
    let response: CachedHTTPResponse
    let images: [String]
    let now: Date

    private var url: String { (response.url?.absoluteString ?? response.key).maskingSecrets }
    private var age: Int { Int(min(response.age(at: now), 1e15)) }
    private var freshUntil: String { response.freshUntil.formatted(.iso8601) }

    var json: JSONObject {
        JSONObject([
            "url": url, "status": response.status, "age": age, "freshUntil": freshUntil,
            "isFresh": response.isFresh(at: now), "isInvalidated": response.isInvalidated,
            "etag": response.value(of: "ETag"),
            "lastModified": response.value(of: "Last-Modified"), "images": images,
        ])
    }

    var row: [String] {
        let validators = [response.value(of: "ETag"), response.value(of: "Last-Modified")]
            .compactMap { $0?.printable.shortened(to: 32) }
        return [
            "\(response.status)", "\(age) s", response.isInvalidated ? "invalidated" : freshUntil,
            validators.isEmpty ? "none" : validators.joined(separator: ", "), "\(images.count)",
            url.printable.shortened(to: 100),
        ]
    }
}

struct CacheInvalidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invalidate",
        abstract: "Have the server asked before images of a URL are used again.",
        usage: "halcyon cache invalidate [<url>] [<options>]",
        discussion: """
            For images loaded with HTTP caching. They stay in the cache, and are used when the server \
            says that they are still good. That there is none is no error. Patterns are compared with URLs \
            as the cache keeps them: with *** in place of secrets.
            """)

    @Argument(help: "A URL, or the key that a program has given the image.")
    var url: String?

    @Option(
        help: .value("pattern", "Instead: all URLs like this, in which * stands for any text."))
    var matching: String?

    @OptionGroup var options: CacheOptions

    func validate() throws {
        if (url == nil) == (matching == nil) {
            throw ValidationError("Give either a URL or --matching with a pattern.")
        }
    }

    func run() async throws {
        let (url, matching) = (url, matching)
        try await options.run { options, console, cache in
            var count = 0
            if let cache, let url { count = try await cache.invalidateResponses(forKey: url) }
            if let cache, let matching {
                count = try await cache.invalidateResponses(matching: matching)
            }
            console.print(
                options.json
                    ? JSONObject(["invalidated": count]).jsonText
                    : "invalidated \(Quantity.count(count, "response"))")
            if count == 0, let hint = matching.flatMap(Self.hint(for:)) { console.note(hint) }
        }
    }

    /// A hint for a pattern that contains a secret, which the cache masks in URLs.
    static func hint(for pattern: String) -> String? {
        // Where any text may stand, an item of a query may begin.
        let masked = pattern.split(separator: "*", omittingEmptySubsequences: false)
            .map { "&\($0)".maskingSecrets.dropFirst() }.joined(separator: "*")
        guard masked != pattern else { return nil }
        return "halcyon: The cache keeps no secrets of URLs; to match these, "
            + "use --matching '\(masked.printable)'"
    }
}
