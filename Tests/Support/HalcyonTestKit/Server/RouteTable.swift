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
