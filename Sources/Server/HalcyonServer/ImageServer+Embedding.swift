import HTTPTypes
import HalcyonHTTP
@_exported public import HalcyonServerURLs
import HalcyonWork
public import Hummingbird
public import HummingbirdCore
import NIOCore
public import ServiceLifecycle

extension ImageServer {
    /// The kinds of requests that a server answers.
    public typealias Routes = ServerRoutes

    /// Answers requests below a path of an application with the pictures of this server.
    ///
    /// The application's middleware comes before; errors, CORS, the request ID and the log are the
    /// server's own. Paths are signed without the path of the application, which is put before
    /// them. ``run()`` of the server belongs to the application's services.
    ///
    /// - Parameters:
    ///   - router: A router of the application, or a group of one.
    ///   - path: Segments before all paths of the server.
    ///   - routes: The enabled routes; anything else is not found.
    ///   - stopsWorkForLostClients: Whether work stops when its client disconnects before the
    ///     response. The connection is then closed after each response that is not in memory, and
    ///     no middleware may have replaced the request's body. Otherwise work goes on for
    ///     `work.requestTimeout` at most.
    public func addRoutes<Context: RequestContext>(
        to router: some RouterMethods<Context>, at path: String = "",
        routes: Routes = [.processing, .info, .iiif], stopsWorkForLostClients: Bool = false
    ) {
        let all = RouterPath(path.isEmpty ? "**" : "\(path)/**")
        for method: HTTPRequest.Method in [.get, .head, .options, .post, .put, .delete, .patch] {
            router.on(all, method: method) { [self] request, context in
                // The last segment is the wildcard.
                let route = (context.endpointPath ?? "").split(separator: "/")
                let mount = Mount(
                    target: request.head.path ?? "", segments: max(0, route.count - 1))
                return try await respond(
                    to: request, mount,
                    (context as? any RemoteAddressRequestContext)?.remoteAddress,
                    routes, isWatching: stopsWorkForLostClients)
            }
        }
    }

    private func respond(
        to request: Request, _ mount: Mount, _ address: SocketAddress?, _ routes: Routes,
        isWatching: Bool
    ) async throws -> Response {
        let hasWork = OneShot<Bool>()
        let ending = Ending()
        var asked = ServerRequest(
            request, target: mount.rest, peer: address?.ipAddress, start: time.now, ending: ending,
            watch: { hasWork.give(true) })
        asked.mount = mount.path
        asked.routes = routes
        guard isWatching else { return Response(await answer(asked), to: request.method) }

        let task = Task { [asked] in
            let answer = await self.answer(asked)
            hasWork.give(false)
            return answer
        }
        guard await hasWork.value else { return Response(await task.value, to: request.method) }
        let answer = try await request.body.consumeWithCancellationOnInboundClose { _ in
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                ending.give(.clientGone)
            }
        }
        return Response(answer, to: request.method)
    }

    /// Returns the response with the picture of a plan, for applications that choose the plan
    /// themselves: no signature is needed.
    ///
    /// - Parameters:
    ///   - plan: The source and its processing.
    ///   - request: Its header fields state the accepted formats and the cached picture.
    public func response(for plan: ImagePlan, to request: Request) async -> Response {
        let asked = ServerRequest(
            request, target: request.head.path ?? "", peer: nil, start: time.now,
            ending: Ending(), watch: {})
        let answer = await lifecycle.answer(asked) { (request, notes) async throws(Failure) in
            notes.route = "processing"
            return try await router.processing.answer(plan, request, &notes)
        }
        return Response(answer, to: request.method)
    }
}

extension ImageServer: Service {
    /// Reports the server as ready, until the application ends.
    public func run() async throws {
        await CodecWarmUp.finish()
        state.enter(.ready)
        let cleaning = Task(priority: .background) { [cleaning = stores.cleaning] in
            await cleaning.runFromTimeToTime()
        }
        defer { cleaning.cancel() }
        try await gracefulShutdown()
        state.enter(.draining)
        await stores.results.finishWriting()
    }
}
