import Foundation

@testable import HalcyonHTTP

/// 24 July 2026, 12:00:00 GMT.
let noon = Date(timeIntervalSince1970: 1_784_894_400)

extension HTTPCachePolicy {
    /// A policy for tests, which tells the variants of requests apart by their plain text.
    static func testing(
        _ caching: HTTPCaching = .on, _ change: (inout HTTPCaching) -> Void = { _ in }
    ) -> HTTPCachePolicy {
        var caching = caching
        change(&caching)
        return HTTPCachePolicy(caching, digest: { $0 })
    }

    /// What is decided with this one response in the cache.
    func decide(
        _ fields: HTTPFields = [:], with stored: StoredResponse?, at age: TimeInterval
    ) -> HTTPCacheDecision {
        let request = HTTPCacheRequest.get(fields)
        let selection = select(request, among: stored.map { [$0] } ?? [])
        return decide(request, with: selection, now: noon.addingTimeInterval(age))
    }

    /// Stores an answer received at noon.
    func storing(
        _ fields: HTTPFields, status: Int = 200, to request: HTTPCacheRequest = .get()
    ) -> CacheStoring {
        storing(request, status: status, fields: fields, requested: noon, received: noon)
    }
}

extension HTTPCacheRequest {
    static func get(_ fields: HTTPFields = [:]) -> HTTPCacheRequest {
        HTTPCacheRequest(url: URL(string: "http://origin.test/cat.png")!, fields: fields)
    }
}

extension StoredResponse {
    /// A response received at noon, whose request was sent at the same moment.
    static func at(
        noon fields: HTTPFields, status: Int = 200, isInvalidated: Bool = false
    ) -> StoredResponse {
        StoredResponse(
            url: HTTPCacheRequest.get().url, status: status, fields: fields, requested: noon,
            received: noon, isInvalidated: isInvalidated)
    }

    static func cacheControl(_ text: String, _ more: HTTPFields = [:]) -> StoredResponse {
        at(noon: HTTPFields([HTTPFields.Line(name: "Cache-Control", value: text)] + more.lines))
    }
}

extension CacheStoring {
    var stored: StoredResponse? { if case .store(let stored) = self { stored } else { nil } }
    var refusal: StorageRefusal? { if case .refuse(let refusal) = self { refusal } else { nil } }
}
