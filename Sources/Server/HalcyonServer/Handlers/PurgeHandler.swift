import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOFoundationCompat

extension ImageServer {
    /// Answers a request to change the caches or to report on them; `nil` for other paths.
    func upkeep(_ path: Substring, _ request: ServerRequest) async -> ServerAnswer? {
        let isKnown = path == "/purge" || path == "/cache" || path.hasPrefix("/warm")
        guard isKnown else { return nil }
        do throws(Failure) {
            try checkOperator(request)
            switch (request.method, path) {
            case ("POST", "/purge"):
                let order: PurgeOrder = try await Self.order(request, limit: 64 << 10)
                return try Self.json(try await purge(order, request))
            case ("POST", "/warm"):
                let order: WarmOrder = try await Self.order(request, limit: 32 << 20)
                return try Self.json(["id": try warm(order)], status: 202)
            case ("GET", _) where path.hasPrefix("/warm/"):
                guard let progress = warming.progress(of: path.dropFirst(6)) else {
                    throw Failure(.notFound, "There is no such job")
                }
                return try Self.json(progress)
            case ("GET", "/cache"):
                return try Self.json(await cacheNumbers())
            case (_, "/purge"), (_, "/warm"), (_, "/cache"):
                throw Failure(.methodNotAllowed, "\(request.method) does nothing at \(path)")
            default:
                throw Failure(.notFound, "There is nothing at this path")
            }
        } catch {
            return errorAnswer(error, to: request, explaining: true)
        }
    }

    /// Without a token, only programs of this machine are accepted, but not pages in its browsers,
    /// and no requests through an embedding application.
    func checkOperator(_ request: ServerRequest) throws(Failure) {
        guard let token = configuration.operationsToken else {
            guard configuration.operationsBind?.isLoopback == true,
                !request.routes.contains(.operations)
            else { throw Failure(.notFound, "There is nothing at this path") }
            guard !request.fields.contains("Origin"), !request.fields.contains("Sec-Fetch-Site")
            else { throw Failure(.forbidden, "Pages of browsers may order nothing here") }
            return
        }
        guard request.bears(token) else {
            throw Failure(.forbidden, "The bearer token is missing or wrong")
        }
    }

    private static func order<Order: Decodable>(
        _ request: ServerRequest, limit: Int
    ) async throws(Failure) -> Order {
        let body = try await request.body(limit)
        do {
            return try JSONDecoder().decode(Order.self, from: Data(buffer: body))
        } catch {
            throw Failure(.badRequest, "The body is not the JSON that is wanted here")
        }
    }

    /// An answer of JSON that must not be stored.
    static func json(_ value: some Encodable, status: Int = 200) throws(Failure) -> ServerAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(value), as: UTF8.self)
            return .text(status, text + "\n", type: "application/json")
        } catch {
            throw Failure(.internalError, "The answer could not be written", cause: "\(error)")
        }
    }
}

/// A purge request: exactly one of these.
private struct PurgeOrder: Decodable {
    var source: String?
    var prefix: String?
    var url: String?
    var all: Bool?
}

private struct PurgeReport: Encodable {
    let sources: Int
    let results: Int
    /// Whether all servers were told; left out by a server that shares nothing.
    let told: Bool?

    init(_ forgotten: [ImageServer.Forgotten]) {
        sources = forgotten.reduce(0) { $0 + $1.sources }
        results = forgotten.reduce(0) { $0 + $1.results }
        let told = forgotten.compactMap(\.isTold)
        self.told = told.isEmpty ? nil : told.allSatisfy(\.self)
    }
}

extension ImageServer {
    private func purge(
        _ order: PurgeOrder, _ request: ServerRequest
    ) async throws(Failure) -> PurgeReport {
        switch (order.source, order.prefix, order.url, order.all) {
        case (let source?, nil, nil, nil):
            let meant = try Failure.ofPlan { () throws(PlanError) in try purges(ofSource: source) }
            return PurgeReport(await forget(meant))
        case (nil, let prefix?, nil, nil) where !prefix.isEmpty:
            return PurgeReport([await forget(.prefix(Purge.normalized(prefix: prefix)))])
        case (nil, nil, let url?, nil):
            return PurgeReport(await forget(try await purges(ofURL: url, request)))
        case (nil, nil, nil, true?):
            return PurgeReport([await forget(.everything)])
        default:
            throw Failure(
                .badRequest,
                "The body has to be one of {\"source\":URL}, {\"prefix\":URL}, {\"url\":PATH} and "
                    + "{\"all\":true}")
        }
    }

    private func forget(_ purges: [Purge]) async -> [Forgotten] {
        var forgotten: [Forgotten] = []
        for purge in purges { forgotten.append(await forget(purge)) }
        return forgotten
    }

    /// Returns the purges for a URL of this server, in all its formats and for all client hints: of
    /// the results of its source, and of those of the fallback in its place.
    private func purges(
        ofURL target: String, _ request: ServerRequest
    ) async throws(Failure) -> [Purge] {
        guard target.hasPrefix(prefix + "/") else {
            throw Failure(.invalidPath, "The URL has to be a path of this server")
        }
        let path = String(target.dropFirst(prefix.count))
        let fallbackKeys = try keysOfFallback()
        var names: Set<String> = []
        var namesOfFallback: Set<String> = []
        var sources: Set<String> = []
        for hints in hintsOfBrowsers {
            let plan = try plan(path, hints: hints)
            names.insert(try await name(of: plan, until: request.ending))
            sources.insert(plan.source)
            if !fallbackKeys.isEmpty {
                namesOfFallback.insert(try await name(of: plan.forFallback, until: request.ending))
            }
        }
        guard let source = sources.first else {
            throw Failure(.invalidPath, "The URL names no source")
        }
        let sourceKeys = try Failure.ofPlan { () throws(PlanError) in try keys(of: source) }
        var purges = sourceKeys.map { Purge.plans(names, source: $0) }
        purges += fallbackKeys.map { .plans(namesOfFallback, source: $0) }
        return purges
    }

    /// Returns the name of a plan, watermark included, in the index of results.
    private func name(of plan: ImagePlan, until ending: Ending) async throws(Failure) -> String {
        let (marked, mark) = try await withWatermark(plan, until: ending)
        return PictureOrigin.name(ofPlan: Self.canonicalText(of: marked, mark))
    }

    /// Returns the keys for results of the fallback; empty where none is set.
    private func keysOfFallback() throws(Failure) -> [String] {
        switch fallback?.origin {
        case .here(let source): return [source.key]
        case .url(let text):
            return try Failure.ofPlan { () throws(PlanError) in try keys(of: text) }
        case nil: return []
        }
    }

    /// Returns the keys that results of a source, which need not be known, may be cached under.
    private func keys(of text: String) throws(PlanError) -> [String] {
        let reference = try sources.policy.reference(text)
        if let url = reference.url { return [RemoteSource.key(of: url)] }
        if case .local(let path) = reference, let local = sources.local {
            return path.candidates.map { FoundSource.key(ofFile: $0, in: local) }
        }
        throw PlanError(.unknownScheme, "There are no sources of this kind.")
    }

    /// All client hints that can remain after rounding.
    private var hintsOfBrowsers: [ClientHints] {
        let negotiation = configuration.negotiation
        guard negotiation.usesClientHints else { return [ClientHints()] }
        let dprs = [nil] + negotiation.dprSteps.map { Optional($0) }
        return dprs.flatMap { dpr in
            [ClientHints(dpr: dpr)]
                + negotiation.widthSteps.map {
                    ClientHints(width: Int((Double($0) / (dpr ?? 1)).rounded(.up)), dpr: dpr)
                }
        }
    }
}
