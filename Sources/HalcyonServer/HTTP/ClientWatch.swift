import HalcyonServerPlans
import HalcyonWork
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Whether the client at the other end of a connection is still there.
///
/// A client that has ended its side of the connection counts as gone, also when it could still read.
final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var ending: Ending?
    }

    private let state = Mutex(State())

    /// Has `ending` given when the client leaves: at once if it has.
    func watch(_ ending: Ending) {
        let hasLeft = state.withLock { state in
            state.ending = ending
            return state.hasLeft
        }
        if hasLeft { ending.give(.clientGone) }
    }

    fileprivate func leave() {
        let ending = state.withLock { state in
            state.hasLeft = true
            defer { state.ending = nil }
            return state.ending
        }
        ending?.give(.clientGone)
    }
}

/// The clients of a server, by their connections.
final class ClientRegistry: Sendable {
    private let clients = Mutex<[ObjectIdentifier: (presence: ClientPresence, any Channel)]>([:])

    /// The client at the other end of `channel`; `nil` when the connection has ended.
    subscript(channel: any Channel) -> ClientPresence? {
        clients.withLock { $0[ObjectIdentifier(channel)]?.presence }
    }

    /// Ends all connections, whatever they are doing.
    func cutOff() {
        for (_, channel) in clients.withLock({ Array($0.values) }) {
            channel.pipeline.fireUserInboundEventTriggered(ConnectionLimits.Cut())
        }
    }

    var count: Int { clients.withLock { $0.count } }

    fileprivate func add(_ channel: any Channel) -> ClientPresence {
        let presence = ClientPresence()
        clients.withLock { $0[ObjectIdentifier(channel)] = (presence, channel) }
        return presence
    }

    fileprivate func remove(_ channel: any Channel) {
        _ = clients.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}

/// Sees the end of a connection, or of the client's side of it, while a request is being answered.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let registry: ClientRegistry
    private var presence: ClientPresence?

    init(_ registry: ClientRegistry) {
        self.registry = registry
    }

    func handlerAdded(context: ChannelHandlerContext) {
        presence = registry.add(context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        registry.remove(context.channel)
        presence?.leave()
    }

    func channelInactive(context: ChannelHandlerContext) {
        registry.remove(context.channel)
        presence?.leave()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { presence?.leave() }
        context.fireUserInboundEventTriggered(event)
    }
}
