import HTTPTypes
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// A request's connection, for what the framework does not tell of it.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Makes the framework's application of a function that answers requests.
enum ServerApplication {
    typealias Responder = CallbackResponder<ConnectionContext>

    /// - Parameters:
    ///   - loops: What reads and writes its connections, and answers them.
    ///   - bound: Where the framework listens.
    ///   - refusal: The answer to a request that cannot be read.
    ///   - answer: Called for each request, in the connection's task.
    static func make(
        _ bound: BindAddress, _ configuration: ImageServerConfiguration,
        on loops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        clients: ClientRegistry, logger: Logger, time: TimeSource,
        onListening: @escaping @Sendable (any Channel) async -> Void,
        refusal: @escaping @Sendable (Failure, _ peer: String?) -> ServerAnswer,
        answer: @escaping @Sendable (ServerRequest) async -> ServerAnswer
    ) -> Application<Responder> {
        let work = configuration.work
        let responder = Responder { request, context in
            if let fault = RequestFault(in: request.head) {
                let answer = refusal(fault.failure, context.channel.remoteAddress?.ipAddress)
                return Response(answer, to: request.method)
            }
            let isRead = OneShot<Void>()
            let answer = await answer(
                ServerRequest(request, context, clients, start: time.now, isRead: isRead))
            var response = Response(answer, to: request.method)
            if request.announcesBody, !isRead.isGiven { response.headers[.connection] = "close" }
            return response
        }
        let headerBytes = configuration.limits.maxHeaderBytes
        let limits = RequestDecoder.Limits(
            target: 16 << 10, fields: headerBytes, field: min(16 << 10, headerBytes))
        let times = ConnectionLimits.Times(
            head: TimeAmount(work.headTimeout), idle: TimeAmount(work.idleTimeout),
            write: TimeAmount(work.writeTimeout),
            lastRequest: TimeAmount(
                min(configuration.drain.idleTimeout, configuration.drain.timeout / 2)))
        return Application(
            responder: responder,
            server: HTTPServerBuilder { responder in
                LoopBoundChannel(responder: responder, limits: limits) {
                    [ConnectionLimits(times), ClientWatch(clients)]
                }
            },
            configuration: ApplicationConfiguration(
                address: bound, serverName: "halcyon", backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(work.maxConnections)),
            onServerRunning: { channel in
                channel.closeFuture.whenComplete { _ in clients.quiesce() }
                await onListening(channel)
            }, eventLoopGroupProvider: .shared(loops), logger: logger.quiet)
    }
}

extension ServerRequest {
    fileprivate init(
        _ request: Request, _ context: ConnectionContext, _ clients: ClientRegistry,
        start: ContinuousClock.Instant, isRead: OneShot<Void>
    ) {
        let ending = Ending()
        self.init(
            request, target: request.head.path ?? "",
            peer: context.channel.remoteAddress?.ipAddress, start: start, ending: ending,
            watch: { [channel = context.channel] in
                if let presence = clients[channel] {
                    presence.watch(ending)
                } else {
                    ending.give(.clientGone)
                }
            },
            willRead: { [channel = context.channel] in
                channel.pipeline.fireUserInboundEventTriggered(ConnectionLimits.BodyWanted())
            }, onRead: { isRead.give(()) })
    }

    /// - Parameter onRead: Called when all of the body has been read.
    init(
        _ request: Request, target: String, peer: String?, start: ContinuousClock.Instant,
        ending: Ending, watch: @escaping @Sendable () -> Void,
        willRead: @escaping @Sendable () -> Void = {},
        onRead: @escaping @Sendable () -> Void = {}
    ) {
        self.init(
            method: request.method.rawValue, target: target,
            fields: HalcyonHTTP.HTTPFields(
                request.head.fieldsWithHost.map { .init(name: $0.name, value: $0.value) }),
            peer: peer, start: start, ending: ending, watch: watch,
            readBody: { [body = request.body] limit in
                willRead()
                // More than that, and less than was announced, are one to who needs it.
                guard let bytes = try? await body.collect(upTo: limit) else { return nil }
                onRead()
                return bytes
            })
    }
}

extension Request {
    fileprivate var announcesBody: Bool {
        head.headerFields[.contentLength].map { $0 != "0" } ?? false
            || head.headerFields[.transferEncoding] != nil
    }
}

extension HTTPRequest {
    /// The header fields, with the authority as the `Host` that it was sent as.
    fileprivate var fieldsWithHost: [(name: String, value: String)] {
        var fields = headerFields.map { ($0.name.rawName, $0.value) }
        if let authority { fields.append(("Host", authority)) }
        return fields
    }
}

extension HTTPTypes.HTTPFields {
    init(_ fields: HalcyonHTTP.HTTPFields) {
        // All names are our own.
        let lines = fields.lines.compactMap { line in
            HTTPField.Name(line.name).map { HTTPField(name: $0, value: line.value) }
        }
        self.init()
        // At once: appending goes through generic code for each line.
        replaceSubrange(0..<0, with: lines)
    }
}

extension Logger {
    /// From `warning` upwards: frameworks tell of each listener and each failed write.
    var quiet: Logger {
        var quiet = self
        quiet.logLevel = max(logLevel, .warning)
        return quiet
    }
}

extension Response {
    init(_ answer: ServerAnswer, to method: HTTPRequest.Method) {
        let length = answer.body.map { String($0.readableBytes) }
        let body = method == .head ? nil : answer.body
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            headers: HTTPTypes.HTTPFields(answer.fields),
            body: body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
        headers[.contentLength] = length
    }
}
