import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonStorage
import HalcyonTestKit
import HalcyonWork

/// Answers requests from the response table, and forwards misses and stale hits to the origin.
///
/// Requests for one URL are serialised.
final class ProxyCache: Sendable {
    typealias Answer = ProxyServer.Answer

    /// The timeout for the origin, in seconds: long, as tests judge decisions, on however busy a
    /// machine.
    private static let patience = 600.0

    fileprivate let policy: HTTPCachePolicy
    fileprivate let store: ProxyStore
    fileprivate let clock: ProxyClock
    private let transport: CurlTransport
    private let exchanges = DiskOperations()

    init(_ policy: HTTPCachePolicy, folder: URL, clock: ProxyClock) throws {
        self.policy = policy
        self.clock = clock
        store = try ProxyStore(folder: folder, policy: policy, now: { clock.now })
        var configuration = HTTPClientConfiguration()
        configuration.connectionsPerHost = 64
        configuration.usesEnvironmentProxies = false
        configuration.connectTimeout = Self.patience
        transport = try CurlTransport.shared(for: configuration)
    }

    /// Answers a request with this content, which may be empty.
    func answer(_ request: HTTPCacheRequest, body: Data) async -> Answer {
        let hand = OneShot<Answer>()
        _ = exchanges.enqueue(.file(ResponseKey.key(url: request.url))) { [self] in
            do {
                try await ProxyExchange(cache: self, request: request, body: body).run(hand)
            } catch {
                let text = Data("The cache failed: \(error)\n".utf8)
                hand.give(Answer(status: 500, fields: ["Content-Type": "text/plain"], body: text))
            }
        }
        return await hand.value
    }

    /// Waits until all work in the background has ended.
    func waitForBackground() async { await exchanges.finishAll() }

    /// Sends a request to the origin; `nil` if there is no response.
    fileprivate func send(
        _ request: HTTPCacheRequest, _ fields: HTTPFields, _ body: Data
    ) async -> Answer? {
        var outgoing = URLRequest(url: request.url)
        outgoing.httpMethod = request.method
        if !body.isEmpty { outgoing.httpBody = body }
        for line in fields.lines where !["host", "content-length"].contains(line.name.lowercased())
        {
            outgoing.addValue(line.value, forHTTPHeaderField: line.name)
        }
        // The reason of the failure makes no difference to a cache.
        guard
            let (head, content) = try? await transport.answer(
                to: outgoing, terms: ExchangeTerms(stall: .seconds(Self.patience)))
        else { return nil }
        return Answer(
            status: head.status,
            fields: HTTPFields(unpacked: head).withoutConnection(keeping: []), body: content)
    }
}

/// The handling of one request.
private struct ProxyExchange: Sendable {
    typealias Answer = ProxyServer.Answer

    let cache: ProxyCache
    let request: HTTPCacheRequest
    let body: Data
    private var policy: HTTPCachePolicy { cache.policy }
    private var store: ProxyStore { cache.store }
    private var clock: ProxyClock { cache.clock }

    /// Delivers the answer. Work after that is a revalidation in the background.
    func run(_ hand: OneShot<Answer>) async throws {
        let entries = try store.entries(of: request)
        if let answer = try ownAnswer(among: entries) {
            hand.give(answer)
            return
        }
        let selected = select(request, among: entries)
        let decision = policy.decide(request, with: selected.selection, now: clock.now)
        switch decision {
        case .use, .useStale:
            if let entry = selected.entry, let answer = try stored(entry, status: "hit") {
                hand.give(answer)
                if decision == .useStale(revalidate: true) {
                    let revalidation = entry.response.revalidation(because: .stale)
                    _ = try await exchange(after: revalidation, selected)
                }
                return
            }
            // The content is lost.
            hand.give(
                try await exchange(after: .fetch(because: .nothingStored), (.nothingStored, nil)))
        case .validate, .fetch:
            hand.give(try await exchange(after: decision, selected))
        case .unsatisfiable:
            hand.give(
                Answer(status: 504, fields: ["Cache-Status": "Halcyon; detail=only-if-cached"]))
        }
    }

    private typealias Selected = (selection: CacheSelection, entry: ProxyStore.Entry?)

    private func select(
        _ request: HTTPCacheRequest, among entries: [ProxyStore.Entry]
    ) -> Selected {
        let selection = policy.select(request, among: entries.map(\.response))
        guard case .response(_, let index) = selection else { return (selection, nil) }
        return (selection, entries[index])
    }

    /// Returns the answer from a stored entry; `nil` if its content is lost.
    private func stored(_ entry: ProxyStore.Entry, status: String) throws -> Answer? {
        guard let body = try store.body(of: entry) else { return nil }
        let now = clock.now
        var fields = policy.fields(of: entry.response, now: now)
        let ttl = policy.freshness(of: entry.response).freshUntil.timeIntervalSince(now)
        fields.append("Cache-Status", "Halcyon; \(status); ttl=\(Int(ttl.rounded(.down)))")
        return Answer(status: entry.response.status, fields: fields, body: body)
    }

    /// Forwards the request to the origin and handles its response by the policy.
    private func exchange(
        after decision: HTTPCacheDecision, _ selected: Selected
    ) async throws -> Answer {
        let requested = clock.now
        let answer = await cache.send(
            request, policy.fields(toSend: request, after: decision), body)
        let received = clock.now
        let failure = answer.map { CacheRequestFailure.status($0.status) } ?? .noAnswer
        if let entry = selected.entry,
            policy.usesStale(entry.response, for: request, after: failure, now: received),
            let answer = try stored(entry, status: "hit; detail=stale-if-error")
        {
            return answer
        }
        guard var answer else {
            return Answer(status: 504, fields: ["Cache-Status": "Halcyon; \(decision.forward)"])
        }
        let invalid = policy.invalidations(
            after: request, status: answer.status, fields: answer.fields)
        if !invalid.isEmpty { try store.invalidate(invalid) }
        let status = "\(decision.forward); fwd-status=\(answer.status)"
        if case .validate = decision, answer.status == 304, let entry = selected.entry {
            let freshening = policy.freshen(
                entry.response, with: answer.fields, for: request, requested: requested,
                received: received)
            switch freshening {
            case .keep(let new):
                let fresh = try store.freshen(entry, to: new)
                if let answer = try stored(fresh, status: status) { return answer }
            case .useOnce(let new, _):
                let once = ProxyStore.Entry(row: entry.row, response: new)
                let answer = try stored(once, status: status)
                try store.remove(entry)
                if let answer { return answer }
            case .mismatch: break
            }
            // The 304 is for another response, or the content is lost.
            return try await exchange(after: .fetch(because: .stale), selected)
        }
        let isStored = try keep(answer, requested: requested, received: received)
        answer.fields.append("Cache-Status", "Halcyon; \(status)\(isStored ? "; stored" : "")")
        return answer
    }

    /// Stores an answer if that is allowed. One that replaces others but may not be stored removes
    /// them.
    private func keep(_ answer: Answer, requested: Date, received: Date) throws -> Bool {
        let storing = policy.storing(
            request, status: answer.status, fields: answer.fields, requested: requested,
            received: received)
        let matching = try store.entries(of: request)
            .filter { policy.matches($0.response, request) }
        switch storing {
        case .store(let response):
            try store.put(response, answer.body, superseding: matching)
            return true
        case .refuse(.method), .refuse(.requestNoStore): break
        case .refuse:
            guard [200, 203, 404, 410].contains(answer.status) else { break }
            for entry in matching { try store.remove(entry) }
        }
        return false
    }

    /// Returns the answer to a client's range or condition from a fresh stored entry.
    private func ownAnswer(among entries: [ProxyStore.Entry]) throws -> Answer? {
        guard request.hasOwnConditions else { return nil }
        var plain = request
        plain.fields.remove(["range", "if-none-match", "if-modified-since"])
        let selected = select(plain, among: entries)
        guard policy.decide(plain, with: selected.selection, now: clock.now) == .use,
            let entry = selected.entry, entry.response.status == 200,
            var answer = try stored(entry, status: "hit")
        else { return nil }
        let tags = request.fields.values("If-None-Match")
        let dates = request.fields.values("If-Modified-Since")
        if !tags.isEmpty || dates.count == 1 {
            let stored = entry.response
            let date = dates.first.flatMap { HTTPDateParser.date($0, now: stored.received) }
            // A response without `Last-Modified` is dated by its `Date` (RFC 9111, section 4.3.2).
            let isMet = ConditionalRequest(ifNoneMatch: tags, ifModifiedSince: date).isMet(
                tag: stored.fields.first("ETag") ?? "",
                lastModified: stored.lastModified ?? stored.date ?? stored.received)
            guard isMet else { return answer }
            answer.fields.remove(["content-length", "content-encoding", "content-range"])
            return Answer(status: 304, fields: answer.fields)
        }
        let count = answer.body.count
        guard let range = request.fields.first("Range"),
            case .part(let positions) = ByteRange(header: range, length: count)
        else { return nil }
        answer.status = 206
        answer.body = answer.body.subdata(in: positions)
        answer.fields.set(
            "Content-Range",
            to: "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(count)")
        return answer
    }
}

extension HTTPCacheDecision {
    /// The reason for forwarding, as the `fwd` parameter of RFC 9211, section 2.2.
    fileprivate var forward: String {
        let reason: CacheMissReason? =
            switch self {
            case .validate(_, let reason), .fetch(let reason), .unsatisfiable(let reason): reason
            case .use, .useStale: nil
            }
        return switch reason {
        case .method: "fwd=method"
        case .nothingStored: "fwd=uri-miss"
        case .varyMismatch: "fwd=vary-miss"
        case .requestNoStore, .ownConditions, .requestNoCache, .requestMaxAge, .requestMinFresh,
            .validationAlways:
            "fwd=request"
        case .responseNoCache, .invalidated, .clockSetBack, .stale, nil: "fwd=stale"
        }
    }
}
