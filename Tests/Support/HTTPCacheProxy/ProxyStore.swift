import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonStorage

/// Responses with their content, in the response table and the files of a cache folder. Reads and
/// writes synchronously, on the caller's thread.
struct ProxyStore: Sendable {
    /// A stored response and its row.
    struct Entry: Sendable {
        let row: ResponseRow
        let response: StoredResponse
    }

    private let files: CacheDirectory
    private let policy: HTTPCachePolicy

    init(folder: URL, policy: HTTPCachePolicy, now: @escaping @Sendable () -> Date) throws {
        var config = DiskStorage.Config(name: "proxy", sizeLimit: 0, directory: folder)
        config.cachePathBlock = { folder, _ in folder }
        files = CacheDirectory(config: config, now: now)
        self.policy = policy
        try files.makeFolder()
    }

    /// Returns the entries for the URL of a request.
    func entries(of request: HTTPCacheRequest) throws -> [Entry] {
        try files.responses(forKey: ResponseKey.key(url: request.url)).compactMap { row in
            StoredResponse(row).map { Entry(row: row, response: $0) }
        }
    }

    /// Returns the content; `nil` if it is lost.
    func body(of entry: Entry) throws -> Data? {
        files.noteUse(ofResponse: entry.row.key, variant: entry.row.variant)
        let key = Self.fileKey(entry.row)
        let name = files.fileName(forKey: key)
        return try files.value(of: name, forKey: key, extending: .none) { $0 }
    }

    /// Stores a response with its content, replacing others.
    func put(_ response: StoredResponse, _ body: Data, superseding others: [Entry]) throws {
        let row = row(
            of: response, key: ResponseKey.key(url: response.url),
            generation: .random(in: 1...Int64.max), bodyLength: Int64(body.count))
        let superseded = others.map(\.row.variant).filter { $0 != row.variant }
        try files.store(
            ResponsePut(row: row, superseded: superseded), with: body, forKey: Self.fileKey(row),
            expiration: .never)
    }

    /// Updates a response after its validation.
    func freshen(_ entry: Entry, to response: StoredResponse) throws -> Entry {
        let row = row(
            of: response, key: entry.row.key, generation: entry.row.generation,
            bodyLength: entry.row.bodyLength)
        _ = try files.freshen(row, from: entry.row.variant)
        return Entry(row: row, response: response)
    }

    func remove(_ entry: Entry) throws {
        try files.removeResponse(key: entry.row.key, variant: entry.row.variant)
    }

    /// Marks the responses of these URLs for validation before their next use.
    func invalidate(_ urls: [URL]) throws {
        let keys = Set(urls.map { ResponseKey.key(url: $0) })
        _ = try files.invalidateResponses { key, _ in keys.contains(key) }
    }

    /// The key of a row's file. Each generation has its own file, whatever its current variant.
    private static func fileKey(_ row: ResponseRow) -> String { "\(row.key)#\(row.generation)" }

    private func row(
        of response: StoredResponse, key: String, generation: Int64, bodyLength: Int64?
    ) -> ResponseRow {
        ResponseRow(
            response, key: key, url: response.url.absoluteString, generation: generation,
            bodyLength: bodyLength, bodyChecksum: nil,
            freshUntil: policy.freshness(of: response).freshUntil)
    }
}
