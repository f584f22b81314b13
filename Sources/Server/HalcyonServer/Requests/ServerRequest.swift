import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOPosix

/// A request as the server's own code sees it, whatever framework it came through.
struct ServerRequest: Sendable {
    /// The client's request ID, or a generated one; in the log and in the response.
    let id: String
    let method: String
    /// Path and query as they were sent.
    let target: String
    let fields: HTTPFields
    /// The client's address, if it has one: from the connection, or from a trusted proxy.
    var peer: String?
    /// The original request as described by a trusted proxy.
    var forwarded: PublicAddress.Forwarded?
    /// The path prefix of the server in an embedding application; not part of the target.
    var mount = ""
    var routes: ServerRoutes = [.all, .page]
    /// Whether hints about the client could have asked for another picture.
    var followsHints = false
    let start: ContinuousClock.Instant
    /// Given once the response is no longer awaited.
    let ending: Ending
    /// Starts watching for the client's disconnect: useful before work, and not free of cost.
    let watch: @Sendable () -> Void
    private let readBody: @Sendable (_ limit: Int) async -> ByteBuffer?

    init(
        method: String, target: String, fields: HTTPFields, peer: String?,
        start: ContinuousClock.Instant,
        ending: Ending = Ending(), watch: @escaping @Sendable () -> Void = {},
        readBody: @escaping @Sendable (_ limit: Int) async -> ByteBuffer? = { _ in nil }
    ) {
        id = Self.id(fields.first("X-Request-ID"))
        self.method = method
        self.target = target
        self.fields = fields
        self.peer = peer
        self.start = start
        self.ending = ending
        self.watch = watch
        self.readBody = readBody
    }

    /// The target without its query.
    var path: Substring {
        target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
    }

    /// Whether it asks for something, without ordering or changing anything.
    var isRead: Bool { method == "GET" || method == "HEAD" }

    /// Whether a public request is about the process instead of a picture.
    var asksForHealth: Bool {
        guard routes.contains(.health), isRead else { return false }
        return switch path {
        case "/live", "/ready", "/health": true
        default: false
        }
    }

    /// Whether the request carries a token (RFC 6750), whose scheme may be written in any case.
    func bears(_ token: String) -> Bool {
        let given = fields.first("Authorization") ?? ""
        let scheme = given.prefix { $0 != " " }
        let credentials = given[scheme.endIndex...].drop { $0 == " " }
        let isEqual = PathSigner.areEqual(Array(credentials.utf8), Array(token.utf8))
        return scheme.lowercased() == "bearer" && isEqual
    }

    /// Reads the whole body; to be called once.
    /// - Throws: `source_too_large` for more than `limit` bytes, `source_incomplete` for fewer than
    ///   announced, and the reason of ``ending`` if that is given first.
    func body(_ limit: Int) async throws(Failure) -> ByteBuffer {
        let announced = fields.first("Content-Length").flatMap { Int($0) }
        if let announced, announced > limit { throw Self.tooLarge(limit) }
        try Failure.withRoom { () throws(LargeMemory.Shortage) in
            try LargeMemory.check(announced ?? limit)
        }
        let reading = Task { [readBody] in await readBody(limit) }
        ending.whenGiven { _ in reading.cancel() }
        let body = await reading.value
        if ending.isGiven { throw Failure(await ending.value, "The body did not come to its end") }
        guard let body else { throw Self.tooLarge(limit) }
        guard announced == nil || body.readableBytes == announced else {
            throw Failure(.sourceIncomplete, "The body is shorter than it was announced")
        }
        return body
    }

    private static func tooLarge(_ limit: Int) -> Failure {
        Failure(.sourceTooLarge, "The body has more than \(limit) bytes")
    }

    /// Returns the client's ID if it is harmless in a log, else a random one.
    private static func id(_ given: String?) -> String {
        if let given, (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0.isDigit || $0.isLetter || "_-".utf8.contains($0) })
        {
            return given
        }
        return .randomHexadecimal()
    }
}

extension ServerRequest {
    /// The request as its first trusted proxy got it.
    ///
    /// - Parameter proxies: Networks whose words count. The connection has to come from one of them, and of
    ///   the addresses that were passed through the last one that is none of them is the client's.
    func believing(_ proxies: [IPNetwork]) -> ServerRequest {
        func isTrusted(_ text: String) -> Bool {
            // A listener of IPv6 gives the peers of IPv4 addresses of its own kind.
            let isMapped = text.lowercased().hasPrefix("::ffff:") && text.contains(".")
            let address = IPAddress(isMapped ? String(text.dropFirst(7)) : text)
            return address.map { address in proxies.contains { $0.contains(address) } } ?? false
        }
        guard !proxies.isEmpty, let peer, isTrusted(peer) else { return self }
        var request = self
        request.forwarded = PublicAddress.Forwarded(values: fields.values)
        let clients = PublicAddress.Forwarded.clients(values: fields.values)
        // What is no address ends the part of the list that can be believed.
        var client = peer
        for address in clients.reversed() {
            guard let address, IPAddress(address) != nil else { break }
            client = address
            if !isTrusted(address) { break }
        }
        request.peer = client
        return request
    }
}

struct RequestTimer: Sendable {
    let timeout: Duration
    let time: TimeSource

    /// Has a request end with `deadline` after the time limit, unless the alarm is cancelled.
    func start(_ request: ServerRequest) -> Alarm {
        time.alarm(
            at: time.now + timeout, on: MultiThreadedEventLoopGroup.singleton.any()
        ) { request.ending.give(.deadline) }
    }

    func deadline(of request: ServerRequest) -> ContinuousClock.Instant { request.start + timeout }
}

/// The part of this server's URLs before their paths, as clients see it.
struct PublicAddresses: Sendable {
    /// As the settings say, with its path; `nil` to take it from requests.
    let configured: String?
    /// The prefix of all public paths, with a slash before it and none behind.
    let prefix: String

    /// Returns the address with the prefix of the server.
    ///
    /// - Parameter mount: The path of an application around the server.
    func base(of request: ServerRequest, mount: String = "") throws(Failure) -> String {
        try Failure.ofPlan { () throws(PlanError) in
            try PublicAddress.base(
                configured: configured, forwarded: request.forwarded,
                host: request.fields.values("Host"))
                + (configured == nil ? mount + prefix : "")
        }
    }
}
