import Foundation
import HalcyonWork
import NIOCore
import NIOPosix
import Synchronization

/// The shared state of a server's connections.
final class OriginState: Sendable {
    /// The nonce of digest authentication, random per server.
    let nonce = UUID().uuidString
    let traffic = Observed(TrafficLog())
    private let routes = Mutex(RouteTable())
    private let connections = Mutex(OpenConnections())

    private struct OpenConnections {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isShutDown = false
    }

    func changeRoutes(_ change: (inout RouteTable) -> Void) { routes.withLock { change(&$0) } }

    func match(
        _ request: RecordedRequest
    ) -> (responder: RouteTable.Responder, ordinal: Int)? {
        routes.withLock { $0.match(request) }
    }

    /// Registers a connection until it closes.
    ///
    /// - Returns: Whether it may be served; `false` after shutdown.
    func opened(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        traffic.update { $0.connectionOpened() }
        let isServed = connections.withLock { connections in
            if !connections.isShutDown { connections.channels[id] = channel }
            return !connections.isShutDown
        }
        channel.closeFuture.whenComplete { _ in
            self.connections.withLock { $0.channels[id] = nil }
            self.traffic.update { $0.connectionClosed() }
        }
        return isServed
    }

    /// Closes all connections, those still to be accepted too, without waiting for responses.
    func closeConnections() {
        let open = connections.withLock { connections in
            connections.isShutDown = true
            return Array(connections.channels.values)
        }
        for channel in open { channel.close(promise: nil) }
    }

    func pause(_ pause: Pause) async throws {
        switch pause {
        case .gate(let gate): try await gate.wait()
        case .duration(let duration): try await Task.sleep(for: duration)
        }
    }
}

/// Which response belongs to which request.
struct RouteTable: Sendable {
    enum Responder: Sendable {
        case response(OriginResponse)
        /// One response per request in order; the last one stays.
        case sequence([OriginResponse])
        case handler(@Sendable (RecordedRequest) -> OriginResponse)
    }

    private struct Route {
        var responder: Responder
        var served = 0
    }

    private var exact: [String: Route] = [:]

    /// Sets or replaces a route. A path with a query is matched as it is written, before one without.
    mutating func set(_ path: String, _ responder: Responder) {
        exact[Self.key(path)] = Route(responder: responder)
    }

    /// Finds what answers `request` and counts it for the route; `nil` where there is no route.
    ///
    /// `ordinal` counts the earlier requests since the route was set.
    mutating func match(_ request: RecordedRequest) -> (responder: Responder, ordinal: Int)? {
        // Of folders the innermost goes first.
        var keys = exact.keys.filter { $0.hasSuffix("/*") && request.path.hasPrefix($0.dropLast()) }
        keys.sort { $0.count > $1.count }
        keys.insert(request.path, at: 0)
        if let query = request.query { keys.insert("\(request.path)?\(query)", at: 0) }
        for key in keys {
            guard let route = exact[key] else { continue }
            exact[key]?.served += 1
            return (route.responder, route.served)
        }
        return nil
    }

    /// Paths are compared percent-decoded, queries as written.
    private static func key(_ path: String) -> String {
        let request = RecordedRequest(target: path)
        return request.query.map { "\(request.path)?\($0)" } ?? request.path
    }
}

extension RouteTable.Responder {
    func response(to request: RecordedRequest, ordinal: Int) -> OriginResponse {
        switch self {
        case .response(let response): response
        case .sequence(let responses):
            responses.isEmpty ? .status(404) : responses[min(ordinal, responses.count - 1)]
        case .handler(let handler): handler(request)
        }
    }
}

/// A log of a server's requests and connections.
struct TrafficLog: Sendable {
    private(set) var requests: [RecordedRequest] = []
    private(set) var openConnections = 0
    private(set) var connectionCount = 0
    private(set) var peakConnections = 0
    private(set) var pending: Set<Int> = []
    private(set) var peakPending = 0
    private(set) var abandoned = 0
    private var requestCount = 0

    mutating func connectionOpened() {
        connectionCount += 1
        openConnections += 1
        peakConnections = max(peakConnections, openConnections)
    }

    mutating func connectionClosed() { openConnections -= 1 }

    /// - Returns: The request's identifier for `responseEnded`.
    mutating func requestReceived(_ request: RecordedRequest) -> Int {
        requests.append(request)
        requestCount += 1
        pending.insert(requestCount)
        peakPending = max(peakPending, pending.count)
        return requestCount
    }

    /// Ends a request. Further reports for it are ignored.
    mutating func responseEnded(_ id: Int, abandoned isAbandoned: Bool) {
        guard pending.remove(id) != nil else { return }
        if isAbandoned { abandoned += 1 }
    }

    /// Resets requests and peaks; open connections and pending requests stay counted.
    mutating func forget() {
        requests = []
        abandoned = 0
        peakPending = pending.count
        peakConnections = openConnections
    }
}
