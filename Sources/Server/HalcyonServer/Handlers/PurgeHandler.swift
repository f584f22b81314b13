import HalcyonServerURLs
import HalcyonWork

struct PurgeHandler: Sendable {
    let purger: Purger
    let urls: URLReader
    let watermarks: Watermarks
    /// The picture in place of others, if one is set.
    let fallback: StandingPicture?
    /// The prefix of all public paths.
    let prefix: String

    /// A purge request: exactly one of these.
    private struct Order: Decodable {
        var source: String?
        var prefix: String?
        var url: String?
        var all: Bool?
    }

    private struct Report: Encodable {
        let sources: Int
        let results: Int
        /// Whether all servers were told; left out by a server that shares nothing.
        let told: Bool?

        init(_ forgotten: [Purger.Forgotten]) {
            sources = forgotten.reduce(0) { $0 + $1.sources }
            results = forgotten.reduce(0) { $0 + $1.results }
            let told = forgotten.compactMap(\.isTold)
            self.told = told.isEmpty ? nil : told.allSatisfy(\.self)
        }
    }

    func answer(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let order: Order = try await request.order(limit: 64 << 10)
        let purges: [Purge]
        switch (order.source, order.prefix, order.url, order.all) {
        case (let source?, nil, nil, nil):
            let decoded = Self.decodedLocal(source).flatMap { try? entries(of: $0) } ?? []
            purges = try (entries(of: source) + decoded).map { $0.purge }
        case (nil, let prefix?, nil, nil) where !prefix.isEmpty:
            purges = ([prefix] + [Self.decodedLocal(prefix)].compactMap(\.self))
                .map { .prefix(Purge.normalized(prefix: $0)) }
        case (nil, nil, let url?, nil):
            purges = try await self.purges(ofURL: url, until: request.ending)
        case (nil, nil, nil, true?):
            purges = [.everything]
        default:
            throw Failure(
                .badRequest,
                "The body has to be one of {\"source\":URL}, {\"prefix\":URL}, {\"url\":PATH} and "
                    + "{\"all\":true}")
        }
        return try .json(Report(await purger.forget(purges)))
    }

    /// The name of a local file that is percent-encoded, as in URLs; a file may also have that very name.
    private static func decodedLocal(_ text: String) -> String? {
        guard text.hasPrefix("local:"), text.utf8.contains(UInt8(ascii: "%")) else { return nil }
        return PercentEncoding.bytes(text[...].utf8).map { String(escaping: $0) }
    }

    /// Returns the purges for a URL of this server, in all its formats and for all client hints: of
    /// the results of its source, and of those of the fallback in its place.
    private func purges(
        ofURL target: String, until ending: Ending
    ) async throws(Failure) -> [Purge] {
        guard target.hasPrefix(prefix + "/") else {
            throw Failure(.invalidPath, "The URL has to be a path of this server")
        }
        let path = String(target.dropFirst(prefix.count))
        let fallbackKeys = try keysOfFallback()
        var names: Set<String> = []
        var namesOfFallback: Set<String> = []
        var sources: Set<String> = []
        for hints in urls.possibleHints {
            let plan = try urls.plan(path, hints: hints).plan
            names.insert(try await name(of: plan, until: ending))
            sources.insert(plan.source)
            if !fallbackKeys.isEmpty {
                namesOfFallback.insert(try await name(of: plan.forFallback, until: ending))
            }
        }
        guard let source = sources.first else {
            throw Failure(.invalidPath, "The URL names no source")
        }
        let purges = try entries(of: source).map { Purge.plans(names, source: $0.key) }
        return purges + fallbackKeys.map { .plans(namesOfFallback, source: $0) }
    }

    /// Returns the name of a plan, watermark included, in the index of results.
    private func name(of plan: ImagePlan, until ending: Ending) async throws(Failure) -> String {
        PictureOrigin.name(ofPlan: try await watermarks.marked(plan, until: ending).text)
    }

    /// Returns the keys for results of the fallback; empty where none is set.
    private func keysOfFallback() throws(Failure) -> [String] {
        switch fallback?.origin {
        case .here(let source): return [source.key]
        case .url(let text): return try entries(of: text).map { $0.key }
        case nil: return []
        }
    }

    private func entries(of source: String) throws(Failure) -> [(purge: Purge, key: String)] {
        try Failure.ofPlan { () throws(PlanError) in try purger.purges(ofSource: source) }
    }
}
