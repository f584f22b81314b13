import Foundation

@testable import HalcyonHTTP

/// A cache in memory that does what the policy says, and nothing of its own.
struct SimulatedCache: CaseCache {
    private struct Entry {
        var response: StoredResponse
        var body: String
    }

    private var policy: HTTPCachePolicy
    private var entries: [String: [Entry]] = [:]

    init(policy: HTTPCachePolicy) {
        self.policy = policy
    }

    mutating func answer(
        _ request: HTTPCacheRequest, of step: PreparedCase.Step, from origin: inout SimulatedOrigin
    ) -> SimulatedAnswer {
        guard step.cache == "no-cache" else { return answer(request, from: &origin) }
        let before = policy
        defer { policy = before }
        var caching = policy.caching
        caching.validation = .always
        policy = HTTPCachePolicy(caching, digest: policy.digest)
        return answer(request, from: &origin)
    }

    private mutating func answer(
        _ request: HTTPCacheRequest, from origin: inout SimulatedOrigin
    ) -> SimulatedAnswer {
        let selection = select(request)
        let decision = policy.decide(request, with: selection, now: origin.now)
        switch (decision, selection) {
        case (.use, .response(_, let index)):
            return stored(request, index, now: origin.now)
        case (.useStale(let revalidates), .response(let response, let index)):
            let answer = stored(request, index, now: origin.now)
            if revalidates {
                let background =
                    response.condition.map { HTTPCacheDecision.validate($0, because: .stale) }
                    ?? .fetch(because: .stale)
                _ = exchange(request, after: background, with: selection, &origin)
            }
            return answer
        case (.validate, _), (.fetch, _):
            return exchange(request, after: decision, with: selection, &origin)
        default:
            return Self.noAnswer
        }
    }

    private static let noAnswer = SimulatedAnswer(status: 504, fields: [:], body: "")

    private func key(_ request: HTTPCacheRequest) -> String {
        ResponseKey.key(url: request.url)
    }

    private func select(_ request: HTTPCacheRequest) -> CacheSelection {
        policy.select(request, among: (entries[key(request)] ?? []).map(\.response))
    }

    private func stored(_ request: HTTPCacheRequest, _ index: Int, now: Date) -> SimulatedAnswer {
        let entry = entries[key(request)]![index]
        return SimulatedAnswer(
            status: entry.response.status, fields: policy.fields(of: entry.response, now: now),
            body: entry.body)
    }

    /// Asks the origin and does with its answer what the policy says.
    private mutating func exchange(
        _ request: HTTPCacheRequest, after decision: HTTPCacheDecision,
        with selection: CacheSelection, _ origin: inout SimulatedOrigin
    ) -> SimulatedAnswer {
        let requested = origin.now
        let answer = origin.answer(request, policy.fields(toSend: request, after: decision))
        let received = origin.now
        let failure = answer.map { CacheRequestFailure.status($0.status) } ?? .noAnswer
        if case .response(let old, let index) = selection,
            policy.usesStale(old, for: request, after: failure, now: received)
        {
            return stored(request, index, now: received)
        }
        guard let answer else { return Self.noAnswer }
        invalidate(after: request, answer)
        if case .validate = decision, answer.status == 304,
            case .response(let old, let index) = selection
        {
            let freshening = policy.freshen(
                old, with: answer.fields, for: request, requested: requested, received: received)
            switch freshening {
            case .keep(let new):
                entries[key(request)]![index].response = new
                return stored(request, index, now: received)
            case .useOnce(let new, _):
                let body = entries[key(request)]!.remove(at: index).body
                return SimulatedAnswer(
                    status: new.status, fields: policy.fields(of: new, now: received), body: body)
            case .mismatch:
                return exchange(request, after: .fetch(because: .stale), with: selection, &origin)
            }
        }
        store(answer, to: request, requested: requested, received: received)
        return answer
    }

    private mutating func store(
        _ answer: SimulatedAnswer, to request: HTTPCacheRequest, requested: Date, received: Date
    ) {
        let storing = policy.storing(
            request, status: answer.status, fields: answer.fields, requested: requested,
            received: received)
        var kept = entries[key(request)] ?? []
        switch storing {
        case .store(let response):
            kept.removeAll { policy.matches($0.response, request) }
            kept.append(Entry(response: response, body: answer.body))
        case .refuse(.method), .refuse(.requestNoStore):
            break
        case .refuse:
            if [200, 203, 404, 410].contains(answer.status) {
                kept.removeAll { policy.matches($0.response, request) }
            }
        }
        entries[key(request)] = kept
    }

    private mutating func invalidate(after request: HTTPCacheRequest, _ answer: SimulatedAnswer) {
        let urls = policy.invalidations(
            after: request, status: answer.status, fields: answer.fields)
        for key in urls.map({ ResponseKey.key(url: $0) }) {
            for index in (entries[key] ?? []).indices {
                entries[key]![index].response.isInvalidated = true
            }
        }
    }
}
