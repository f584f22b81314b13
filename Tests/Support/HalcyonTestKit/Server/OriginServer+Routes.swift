import Foundation

extension OriginServer {
    /// Answers requests for exactly `path` with `response`, now on, in place of an earlier answer.
    ///
    /// The query of a request is ignored unless `path` has one.
    public func route(_ path: String, _ response: OriginResponse) {
        state.changeRoutes { $0.set(path, .response(response)) }
    }

    /// Answers the requests for `path` with one response each, in order; the last one stays.
    public func route(_ path: String, sequence responses: [OriginResponse]) {
        state.changeRoutes { $0.set(path, .sequence(responses)) }
    }

    /// Answers requests for exactly `path`, or for all below it if it ends with `/*`, with what `handler` returns.
    ///
    /// It runs on the server's event loop and must not wait.
    public func route(
        _ path: String, _ handler: @escaping @Sendable (RecordedRequest) -> OriginResponse
    ) {
        state.changeRoutes { $0.set(path, .handler(handler)) }
    }

    /// Redirects each path to the next and the last one to the first, without end.
    public func routeRedirectLoop(_ paths: String..., status: Int = 302) {
        for (index, path) in paths.enumerated() {
            route(path, .redirect(to: paths[(index + 1) % paths.count], status: status))
        }
    }
}
