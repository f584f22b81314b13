/// Which of the responses under one key belongs to a request.
package enum CacheSelection: Sendable, Hashable {
    /// The response and its position among those given.
    case response(StoredResponse, index: Int)
    case nothingStored
    /// All of them were made for other request fields.
    case varyMismatch
}

extension HTTPCachePolicy {
    /// Chooses among the responses stored under the request's key (RFC 9111, section 4.1).
    ///
    /// One without `Vary` beside others with it is used only when it is the newest: the server has
    /// not varied before, or does no longer. Of several the one with the latest `Date` counts,
    /// then the one received last.
    package func select(
        _ request: HTTPCacheRequest, among responses: [StoredResponse]
    ) -> CacheSelection {
        if responses.isEmpty { return .nothingStored }
        let newestVarying = responses.filter { !$0.vary.isEmpty }
            .max { $1.isNewer(than: $0) }
        let best = responses.enumerated()
            .filter { _, response in
                guard matches(response, request) else { return false }
                guard let newestVarying, response.vary.isEmpty else { return true }
                return response.isNewer(than: newestVarying)
            }
            .max { $1.element.isNewer(than: $0.element) }
        guard let best else { return .varyMismatch }
        return .response(best.element, index: best.offset)
    }

    /// Whether the request has the same selecting fields as the one that `response` answered.
    ///
    /// Of the responses under the key of a new one, those that match its request are superseded.
    package func matches(_ response: StoredResponse, _ request: HTTPCacheRequest) -> Bool {
        if response.vary.contains("*") { return false }
        return response.variant == variant(of: request, naming: response.vary)
    }

    /// The hash of the request's fields of these names; empty without names.
    func variant(of request: HTTPCacheRequest, naming names: [String]) -> [UInt8] {
        names.isEmpty ? [] : digest(VaryKey.canonical(names, of: request.fields))
    }
}

extension StoredResponse {
    fileprivate func isNewer(than other: StoredResponse) -> Bool {
        let dates = (date ?? received, other.date ?? other.received)
        return dates.0 == dates.1 ? received > other.received : dates.0 > dates.1
    }
}
