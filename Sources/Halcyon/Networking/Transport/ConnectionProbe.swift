import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// Tells exchanges whether their requests leave on a connection that has been used before.
///
/// The HTTP client does not say which connection it takes. So each request carries its exchange's
/// number in a header field, which a handler in every connection takes out before it is sent.
final class ConnectionProbe: Sendable {
    /// The name of the header field, which is never sent.
    static let fieldName = "X-Halcyon-Exchange"

    private struct State {
        var waiting: [String: @Sendable (_ isReused: Bool) -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// - Parameter onSend: Called on the connection's event loop when the request is written.
    /// - Returns: The value of the header field.
    func register(_ onSend: @escaping @Sendable (_ isReused: Bool) -> Void) -> String {
        state.withLock { state in
            state.nextNumber += 1
            let number = String(state.nextNumber)
            state.waiting[number] = onSend
            return number
        }
    }

    /// Forgets an exchange, whether its request was sent or not.
    func unregister(_ number: String) {
        // Released after the lock: the closure owns the exchange.
        _ = state.withLock { $0.waiting.removeValue(forKey: number) }
    }

    fileprivate func requestIsSent(_ number: String, isReused: Bool) {
        state.withLock { $0.waiting[number] }?(isReused)
    }

    // MARK: - Installing, on the event loop of the channel

    /// Watches an HTTP/1 connection.
    func watch(_ connection: any Channel) throws {
        try add(to: connection, uses: ConnectionUses())
    }

    /// Counts the streams of an HTTP/2 connection.
    func count(_ connection: any Channel) throws {
        try connection.pipeline.syncOperations.addHandler(ConnectionUses())
    }

    /// Watches a stream of an HTTP/2 connection.
    func watch(stream: any Channel) throws {
        let uses = try stream.parent?.pipeline.syncOperations.handler(type: ConnectionUses.self)
        try add(to: stream, uses: uses ?? ConnectionUses())
    }

    private func add(to channel: any Channel, uses: ConnectionUses) throws {
        let pipeline = channel.pipeline.syncOperations
        // Between the client's own handler and those that make bytes of its requests.
        let decompressor = try pipeline.handler(type: NIOHTTPResponseDecompressor.self)
        try pipeline.addHandler(
            RequestWatcher(probe: self, uses: uses), position: .after(decompressor))
    }
}

/// How many requests a connection has carried. Confined to the connection's event loop.
private final class ConnectionUses: ChannelInboundHandler {
    typealias InboundIn = Any

    var count = 0
}

/// Takes the exchange's number out of each request.
private final class RequestWatcher: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let probe: ConnectionProbe
    private let uses: ConnectionUses

    init(probe: ConnectionProbe, uses: ConnectionUses) {
        self.probe = probe
        self.uses = uses
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        if let number = head.headers.first(name: ConnectionProbe.fieldName) {
            head.headers.remove(name: ConnectionProbe.fieldName)
            probe.requestIsSent(number, isReused: uses.count > 0)
        }
        uses.count += 1
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
