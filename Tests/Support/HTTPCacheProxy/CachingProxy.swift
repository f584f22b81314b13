import Foundation
import HalcyonHTTP
import Synchronization

/// The proxy: a server, and the cache that it answers from.
final class CachingProxy: Sendable {
    let clock: ProxyClock
    private let cache: ProxyCache
    private let server: ProxyServer

    /// Where it listens.
    var port: Int { server.port }

    private init(_ cache: ProxyCache, _ server: ProxyServer, _ clock: ProxyClock) {
        (self.cache, self.server, self.clock) = (cache, server, clock)
    }

    /// Starts to answer requests; `upstream` is the server's URL, to which paths are appended.
    static func start(
        port: Int, upstream: String, caching: HTTPCaching, folder: URL, clock: ProxyClock
    ) async throws -> CachingProxy {
        let policy = HTTPCachePolicy(caching)
        let cache = try ProxyCache(policy, folder: folder, clock: clock)
        let base = upstream.hasSuffix("/") ? String(upstream.dropLast()) : upstream
        let server = try await ProxyServer.start(port: port) { request in
            if clock.isManual, let answer = await Self.clockAnswer(request, clock, cache) {
                return answer
            }
            // A client may send a whole URL, whose server is not the one that is asked.
            guard request.target.hasPrefix("/"), let url = URL(string: base + request.target)
            else { return ProxyServer.Answer(status: 400) }
            return await cache.answer(
                HTTPCacheRequest(method: request.method, url: url, fields: request.fields),
                body: request.body)
        }
        return CachingProxy(cache, server, clock)
    }

    private static func clockAnswer(
        _ request: ProxyServer.Request, _ clock: ProxyClock, _ cache: ProxyCache
    ) async -> ProxyServer.Answer? {
        guard let target = URLComponents(string: request.target), target.path == "/.clock" else {
            return nil
        }
        switch request.method {
        case "GET": break
        case "POST":
            let text = target.queryItems?.first { $0.name == "advance" }?.value
            guard let seconds = text.flatMap(TimeInterval.init), seconds.isFinite else {
                return ProxyServer.Answer(status: 400)
            }
            await cache.waitForBackground()
            clock.advance(by: seconds)
        default: return ProxyServer.Answer(status: 405)
        }
        return ProxyServer.Answer(
            status: 200, fields: ["Content-Type": "text/plain"],
            body: Data("\(clock.now.timeIntervalSince1970)\n".utf8))
    }

    /// Stops listening, and waits for the work in the background.
    func stop() async throws {
        try await server.stop()
        await cache.waitForBackground()
    }
}

/// The time that the cache goes by.
final class ProxyClock: Sendable {
    let isManual: Bool
    private let time: Mutex<Date>

    /// A clock that goes on by itself, or one that stays at `start`, by default this whole second.
    init(isManual: Bool, start: Date? = nil) {
        self.isManual = isManual
        let seconds = Date().timeIntervalSince1970.rounded(.down)
        time = Mutex(start ?? Date(timeIntervalSince1970: seconds))
    }

    var now: Date { isManual ? time.withLock { $0 } : Date() }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
