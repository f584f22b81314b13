import HalcyonServerURLs
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

final class ClientRegistry: Sendable {
    private struct State {
        var clients: [ObjectIdentifier: (presence: ClientPresence, channel: any Channel)] = [:]
        var isQuiescing = false
    }

    struct Usage: Sendable {
        var count: Int
        /// Whether each connection ends after one more request at most.
        var isQuiescing: Bool
    }

    private let state = Observed(State())

    /// The client at the other end of `channel`; `nil` when the connection has ended.
    subscript(channel: any Channel) -> ClientPresence? {
        state.read { $0.clients[ObjectIdentifier(channel)]?.presence }
    }

    /// Has each connection end after one more request at most. The framework tells those that it knows; others
    /// are being accepted at that moment.
    func quiesce() {
        let channels = state.update { state in
            state.isQuiescing = true
            return state.clients.values.map { $0.channel }
        }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    func cutOff() {
        for channel in state.read({ $0.clients.values.map { $0.channel } }) {
            channel.pipeline.fireUserInboundEventTriggered(ConnectionLimits.Cut())
        }
    }

    var count: Int { state.read { $0.clients.count } }

    func wait(until isReached: @Sendable (Usage) -> Bool) async {
        await state.wait {
            isReached(Usage(count: $0.clients.count, isQuiescing: $0.isQuiescing))
        }
    }

    /// - Returns: Also whether the connection has to end after its first request.
    fileprivate func add(_ channel: any Channel) -> (presence: ClientPresence, isQuiescing: Bool) {
        let presence = ClientPresence()
        let isQuiescing = state.update { state in
            state.clients[ObjectIdentifier(channel)] = (presence, channel)
            return state.isQuiescing
        }
        return (presence, isQuiescing)
    }

    fileprivate func remove(_ channel: any Channel) {
        state.update { $0.clients[ObjectIdentifier(channel)] = nil }
    }
}

/// Sees the end of a connection, or of the client's side of it, while a request is being answered.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let registry: ClientRegistry
    private var presence: ClientPresence?

    init(_ registry: ClientRegistry) { self.registry = registry }

    func handlerAdded(context: ChannelHandlerContext) {
        let (presence, isQuiescing) = registry.add(context.channel)
        self.presence = presence
        if isQuiescing {
            context.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
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
