public import Foundation
import HalcyonHTTP
import HalcyonStorage
import HalcyonWork
import Synchronization

/// A server's response, without its content, as the disk cache keeps it for images that were loaded with
/// HTTP caching.
public struct CachedHTTPResponse: Sendable, Hashable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// What the response is found by: the URL in its normal form, or the key that the resource was
    /// given; behind the partition and a line break where there is one.
    public let key: String
    /// What was asked, after redirects that came before.
    public let url: URL?
    public let status: Int
    /// The header fields in the order received.
    public let fields: [Field]
    /// When the request was sent, or that of the last validation.
    public let requested: Date
    /// When the header fields arrived, or those of the last validation.
    public let received: Date
    /// Until when images may be used without asking the server.
    public let freshUntil: Date
    /// Whether the server has to be asked all the same.
    public let isInvalidated: Bool
    /// The names of the cached files that were made of the content, in the cache's folder. None for a
    /// redirect or a remembered error.
    public let fileNames: [String]

    private let initialAge: TimeInterval

    init(_ row: ResponseRow, fileNames: [String]) {
        key = row.key
        url = URL(string: row.url)
        status = row.status
        // Fields that cannot be read are as good as none: the response is stale, and cannot be validated.
        let read = row.headerFields ?? HTTPFields()
        fields = read.lines.map { Field(name: $0.name, value: $0.value) }
        requested = Date(timeIntervalSince1970: row.requested)
        received = Date(timeIntervalSince1970: row.received)
        freshUntil = Date(timeIntervalSince1970: row.freshUntil)
        isInvalidated = row.isInvalidated
        self.fileNames = fileNames
        let stored = StoredResponse(
            url: url ?? URL(fileURLWithPath: "/"), status: status, fields: read,
            requested: requested, received: received)
        initialAge = HTTPCachePolicy(.on, digest: { $0 }).freshness(of: stored).initialAge
    }

    /// The value of the first field of a name, whose case does not count.
    public func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Seconds since the server made the response, or confirmed it, as far as that is known.
    public func age(at date: Date) -> TimeInterval {
        max(0, initialAge + date.timeIntervalSince(received))
    }

    /// Whether images may be used at `date` without asking the server.
    public func isFresh(at date: Date) -> Bool {
        !isInvalidated && received <= date && date < freshUntil
    }
}

extension ImageCache {
    /// The response on disk of a URL, or of the key that a resource was given explicitly: the one that
    /// came last when it depends on the request.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be read.
    public func httpResponse(forKey key: String) async throws -> CachedHTTPResponse? {
        let name = ResponseName(key)
        let found = Mutex<CachedHTTPResponse?>(nil)
        try await forEachHTTPResponse(where: name.matches) { response in
            found.withLock { found in
                if found.map({ $0.received < response.received }) ?? true { found = response }
            }
        }
        return found.withLock { $0 }
    }

    /// All responses on disk, those used last first.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be read.
    public func httpResponses() async throws -> [CachedHTTPResponse] {
        let found = Mutex<[CachedHTTPResponse]>([])
        try await forEachHTTPResponse { response in found.withLock { $0.append(response) } }
        return found.withLock { $0 }
    }

    /// Calls `body` with all responses on disk, those used last first, without having all of them in memory: on
    /// a thread of the disk, which may wait.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be read, or what `body` throws.
    public func forEachHTTPResponse(
        _ body: @escaping @Sendable (CachedHTTPResponse) throws -> Void
    ) async throws {
        try await forEachHTTPResponse(where: { _, _ in true }, body)
    }

    private func forEachHTTPResponse(
        where matches: @escaping @Sendable (_ key: String, _ url: String) -> Bool,
        _ body: @escaping @Sendable (CachedHTTPResponse) throws -> Void
    ) async throws {
        await operations.finishAll()
        try await DiskLane.reading.run { [diskStorage] in
            try inKingfishersWords {
                try diskStorage.files.forEachResponse(where: matches) {
                    try body(CachedHTTPResponse($0, fileNames: $1))
                }
            }
        }
    }

    /// Has the server asked before images of a URL are used again, or those of the key that a resource was
    /// given explicitly. The images stay: they are used when the server says that they are still good.
    /// - Returns: How many responses on disk these are.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be written.
    @discardableResult
    public func invalidateResponses(forKey key: String) async throws -> Int {
        let name = ResponseName(key)
        return try await invalidateResponses { name.matches($0, $1) }
    }

    /// Does the same for all URLs and keys that match a pattern as a whole, in which `*` stands for any
    /// text: `https://example.com/avatars/*`, for example.
    @discardableResult
    public func invalidateResponses(matching pattern: String) async throws -> Int {
        let pattern = TextPattern(pattern)
        return try await invalidateResponses { key, url in
            pattern.matches(url) || pattern.matches(key)
        }
    }

    private func invalidateResponses(
        where matches: @escaping @Sendable (_ key: String, _ url: String) -> Bool
    ) async throws -> Int {
        await operations.finishAll()
        return try await DiskLane.writing.run { [responses] in
            try inKingfishersWords { try responses.invalidate(where: matches) }
        }
    }
}

/// What somebody calls a response by: its key or its URL.
private struct ResponseName: Sendable {
    private let names: Set<String>

    init(_ name: String) {
        let normalized = URL(string: name).map(ResponseKey.normalized) ?? name
        names = [name, CachedResponses.rowKey(name), CachedResponses.rowKey(normalized)]
    }

    /// Whether a response of this key and URL is meant, in whatever partition.
    func matches(_ key: String, _ url: String) -> Bool {
        if names.contains(key) || names.contains(url) { return true }
        guard let end = key.firstIndex(of: "\n") else { return false }
        return names.contains(String(key[key.index(after: end)...]))
    }
}

/// A text with `*` for any other text.
struct TextPattern: Sendable {
    /// What stands between the stars.
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    /// Whether the whole text matches.
    func matches(_ text: String) -> Bool {
        let first = parts[0]
        var rest = Array(text.utf8)[...]
        guard rest.starts(with: first) else { return false }
        rest = rest.dropFirst(first.count)
        guard parts.count > 1 else { return rest.isEmpty }
        // The first place is as good as any for what stands in the middle.
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let place = rest.firstRange(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        let last = parts[parts.count - 1]
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }
}
