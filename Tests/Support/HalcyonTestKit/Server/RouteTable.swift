/// Which response belongs to which request.
struct RouteTable: Sendable {
    enum Responder: Sendable {
        case response(OriginResponse)
        /// One response per request in order; the last one stays.
        case sequence([OriginResponse])
        case handler(@Sendable (RecordedRequest) -> OriginResponse)
    }

    enum Match: Sendable {
        /// `ordinal` counts the earlier requests since the route was set.
        case responder(Responder, ordinal: Int)
        case directory(ServedDirectory)
        case none
    }

    private struct Route {
        var responder: Responder
        var served = 0
    }

    private var exact: [String: Route] = [:]
    private var directories: [ServedDirectory] = []

    /// Sets or replaces a route. A path with a query is matched as it is written, before one without.
    mutating func set(_ path: String, _ responder: Responder) {
        exact[Self.key(path)] = Route(responder: responder)
    }

    mutating func remove(_ path: String) {
        exact[Self.key(path)] = nil
    }

    /// Adds a directory; where several fit, the longest prefix wins, then the latest.
    mutating func add(_ directory: ServedDirectory) {
        directories.removeAll { $0.prefix == directory.prefix }
        directories.append(directory)
        directories.sort { $0.prefix.count > $1.prefix.count }
    }

    /// Finds what answers `request` and counts it for the route.
    mutating func match(_ request: RecordedRequest) -> Match {
        var keys = [request.path]
        if let query = request.query { keys.insert("\(request.path)?\(query)", at: 0) }
        for key in keys {
            guard let route = exact[key] else { continue }
            exact[key]?.served += 1
            return .responder(route.responder, ordinal: route.served)
        }
        let directory = directories.first { request.path.hasPrefix($0.prefix) }
        return directory.map(Match.directory) ?? .none
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
