import HTTPTypes
import HalcyonHTTP
import HalcyonServerPlans
import HalcyonWork
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

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
    ///   - onListening: Told the port, or 0 for a socket of the file system.
    ///   - answer: Called for each request, in the connection's task.
    static func make(
        _ address: ListenAddress, _ configuration: ImageServerConfiguration,
        clients: ClientRegistry, logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void,
        answer: @escaping @Sendable (ServerRequest) async -> ServerAnswer
    ) -> Application<Responder> {
        let work = configuration.work
        let responder = Responder { request, context in
            let answer = await answer(ServerRequest(request, context, clients))
            return Response(answer, to: request.method)
        }
        let headerBytes = configuration.limits.maxHeaderBytes
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionLimits(head: TimeAmount(work.headTimeout)),
                ClientWatch(clients),
            ], idleTimeout: TimeAmount(work.idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: min(16 * 1024, headerBytes), maxHeaderListSize: headerBytes,
                maxHeaderFieldCount: 64))
        let bind: BindAddress =
            switch address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unix(let path): .unixDomainSocket(path: path)
            }
        // The framework tells of each listener and each failed write.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return Application(
            responder: responder, server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(
                address: bind, serverName: "halcyon", backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(work.maxConnections)),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, logger: quiet)
    }
}

extension ServerRequest {
    fileprivate init(
        _ request: Request, _ context: ConnectionContext, _ clients: ClientRegistry
    ) {
        let ending = Ending()
        self.init(
            request, target: request.head.path ?? "",
            peer: context.channel.remoteAddress?.ipAddress, ending: ending,
            watch: { [channel = context.channel] in
                if let presence = clients[channel] {
                    presence.watch(ending)
                } else {
                    ending.give(.clientGone)
                }
            })
    }

    init(
        _ request: Request, target: String, peer: String?, ending: Ending,
        watch: @escaping @Sendable () -> Void
    ) {
        self.init(
            method: request.method.rawValue, target: target,
            fields: HalcyonHTTP.HTTPFields(
                request.head.fieldsWithHost.map { .init(name: $0.name, value: $0.value) }),
            peer: peer, ending: ending, watch: watch,
            readBody: { [body = request.body] limit in
                // More than that, and less than was announced, are one to who needs it.
                try? await body.collect(upTo: limit)
            })
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

extension Response {
    init(_ answer: ServerAnswer, to method: HTTPRequest.Method) {
        var fields = HTTPTypes.HTTPFields()
        for line in answer.fields.lines {
            // All names are our own.
            if let name = HTTPField.Name(line.name) {
                fields.append(HTTPField(name: name, value: line.value))
            }
        }
        let length = answer.body.map { String($0.readableBytes) }
        let body = method == .head ? nil : answer.body
        self.init(
            status: HTTPResponse.Status(code: answer.status), headers: fields,
            body: body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
        headers[.contentLength] = length
    }
}
