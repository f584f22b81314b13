import Foundation
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

    func changeRoutes(_ change: (inout RouteTable) -> Void) {
        routes.withLock { change(&$0) }
    }

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
