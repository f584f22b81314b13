public import Foundation
import HalcyonWork
import Synchronization

/// A server's response without its content, as stored by the disk cache for images loaded with HTTP
/// caching.
public struct CachedHTTPResponse: Sendable, Hashable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// The lookup key of the response: the normalised URL, or the resource's explicit key; preceded
    /// by the partition and a line break if there is one.
    public let key: String
    /// The requested URL, after any redirects.
    public let url: URL?
    public let status: Int
    /// The header fields in the order received.
    public let fields: [Field]
    /// The time of the request, or of that for the last validation.
    public let requested: Date
    /// The arrival time of the header fields, or of those of the last validation.
    public let received: Date
    /// The time until which images may be used without revalidation.
    public let freshUntil: Date
    /// Whether revalidation is required all the same.
    public let isInvalidated: Bool
    /// The names of the cached files made from the content, in the cache's folder. Empty for a
    /// redirect or a remembered error.
    public let fileNames: [String]

    private let initialAge: TimeInterval

    init(_ row: ResponseRow, fileNames: [String]) {
        key = row.key
        url = URL(string: row.url)
        status = row.status
        // Unreadable fields count as none: the response is stale, and cannot be validated.
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

    /// Returns the value of the first field with this name, ignoring case.
    public func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Returns the seconds since the server generated or validated the response, as far as known.
    public func age(at date: Date) -> TimeInterval {
        max(0, initialAge + date.timeIntervalSince(received))
    }

    /// Whether images may be used at `date` without revalidation.
    public func isFresh(at date: Date) -> Bool {
        !isInvalidated && received <= date && date < freshUntil
    }
}

extension ImageCache {
    /// Returns the response on disk for a URL or a resource's explicit key: the latest one if it
    /// depends on the request.
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

    /// Returns all responses on disk, most recently used first.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be read.
    public func httpResponses() async throws -> [CachedHTTPResponse] {
        let found = Mutex<[CachedHTTPResponse]>([])
        try await forEachHTTPResponse { response in found.withLock { $0.append(response) } }
        return found.withLock { $0 }
    }

    /// Calls `body` with each response on disk, most recently used first, without having all of
    /// them in memory. `body` runs on a thread of the disk and may block.
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

    /// Requires revalidation before images of a URL, or of a resource's explicit key, are used
    /// again. The images stay: they are used if the server confirms them.
    /// - Returns: The number of invalidated responses on disk.
    /// - Throws: `KingfisherError`, 3004, when the disk cannot be written.
    @discardableResult
    public func invalidateResponses(forKey key: String) async throws -> Int {
        let name = ResponseName(key)
        return try await invalidateResponses { name.matches($0, $1) }
    }

    /// Invalidates all responses whose URL or key matches a pattern as a whole, in which `*` stands
    /// for any text: `https://example.com/avatars/*`, for example.
    /// - Returns: The number of invalidated responses on disk.
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

private struct ResponseName: Sendable {
    private let names: Set<String>

    init(_ name: String) {
        let normalized = URL(string: name).map(ResponseKey.normalized) ?? name
        names = [name, CachedResponses.rowKey(name), CachedResponses.rowKey(normalized)]
    }

    /// Whether a response with this key and URL has the name, in any partition.
    func matches(_ key: String, _ url: String) -> Bool {
        if names.contains(key) || names.contains(url) { return true }
        guard let end = key.firstIndex(of: "\n") else { return false }
        return names.contains(String(key[key.index(after: end)...]))
    }
}

/// A pattern in which `*` stands for any text.
struct TextPattern: Sendable {
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    func matches(_ text: String) -> Bool {
        let first = parts[0]
        var rest = Array(text.utf8)[...]
        guard rest.starts(with: first) else { return false }
        rest = rest.dropFirst(first.count)
        guard parts.count > 1 else { return rest.isEmpty }
        // The first match is as good as any for a middle part.
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let place = rest.firstRange(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        let last = parts[parts.count - 1]
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }
}
