import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonWork

/// Responses of sources' servers with their bodies, on a disk that servers may share.
///
/// An unusable folder counts as empty, after `onError` is told the cause.
struct SourceFolder: Sendable {
    private let files: CacheDirectory
    private let onError: @Sendable (any Error) -> Void

    init(
        _ tier: ImageServerConfiguration.Tier, in directory: URL, time: TimeSource,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        files = CacheDirectory(tier, named: "sources", in: directory, time: time)
        self.onError = onError
    }

    /// Returns the stored source of a key; its body is read on demand.
    func source(_ key: String) async -> RemoteSource? {
        await onLane(DiskLane.reading, nil) { files in
            for row in try files.responses(forKey: key) {
                guard var stored = StoredResponse(row) else { continue }
                files.noteUse(ofResponse: row.key, variant: row.variant)
                let shared = stored.fields.first(Self.generationField).flatMap { Int64($0) }
                stored.fields.remove([Self.generationField])
                return RemoteSource(
                    key: key, stored: stored, generation: row.generation,
                    sharedGeneration: shared, size: Int(row.bodyLength ?? 0), body: nil)
            }
            return nil
        }
    }

    /// Returns the body; `nil` if it is lost or was never stored.
    func body(of source: RemoteSource) async -> Data? {
        await onLane(DiskLane.reading, nil) { files in
            let key = Self.fileKey(source)
            let body = try files.value(
                of: files.fileName(forKey: key), forKey: key, extending: .cacheTime
            ) { $0 }
            return body?.count == source.size ? body : nil
        }
    }

    /// Stores the head of a source whose body is not here.
    func putHead(
        _ source: RemoteSource, freshUntil: Date, if isWanted: @escaping @Sendable () -> Bool
    ) async {
        await put(source, Self.placeholder, freshUntil: freshUntil, if: isWanted)
    }

    /// Stands in for a body; no picture has one byte.
    private static let placeholder = Data([0])

    /// Stores a response in place of the one before it, if it is still wanted when its turn comes.
    func put(
        _ source: RemoteSource, _ body: Data, freshUntil: Date,
        if isWanted: @escaping @Sendable () -> Bool
    ) async {
        let row = row(of: source, freshUntil)
        await onLane(DiskLane.writing, ()) { files in
            guard isWanted() else { return }
            try files.store(ResponsePut(row: row), with: body, forKey: Self.fileKey(source))
        }
    }

    func freshen(_ source: RemoteSource, freshUntil: Date) async {
        let row = row(of: source, freshUntil)
        await onLane(DiskLane.writing, ()) { _ = try $0.freshen(row, from: row.variant) }
    }

    /// - Returns: Whether there was something to remove.
    @discardableResult
    func remove(_ key: String) async -> Bool {
        await onLane(DiskLane.writing, false) { files in
            let rows = try files.responses(forKey: key)
            for row in rows { try files.removeResponse(key: row.key, variant: row.variant) }
            return !rows.isEmpty
        }
    }

    /// - Returns: The keys of the removed sources.
    func remove(
        where isMeant: @escaping @Sendable (_ key: String, _ url: String) -> Bool
    ) async -> Set<String> {
        await onLane(DiskLane.writing, []) { files in
            var keys: Set<String> = []
            _ = try files.removeFiles(ofResponsesWhere: { key, url in
                guard isMeant(key, url) else { return false }
                keys.insert(key)
                return true
            })
            return keys
        }
    }

    func usage() async -> TierUsage {
        await onLane(DiskLane.reading, TierUsage()) { try TierUsage(of: $0) }
    }

    func clean() async { await onLane(DiskLane.writing, ()) { _ = try $0.removeExpired() } }

    private func onLane<Value: Sendable>(
        _ lane: ThreadPool, _ fallback: Value,
        _ work: @escaping @Sendable (CacheDirectory) throws -> Value
    ) async -> Value {
        do {
            return try await lane.run { [files] in try work(files) }
        } catch {
            onError(error)
            return fallback
        }
    }

    /// Each generation has a file of its own.
    private static func fileKey(_ source: RemoteSource) -> String {
        "\(source.key)#\(source.generation)"
    }

    /// The name of the field that holds a source's generation among servers.
    private static let generationField = "halcyon-generation"

    private func row(of source: RemoteSource, _ freshUntil: Date) -> ResponseRow {
        var stored = source.stored
        // Removed even if the source's server has sent it.
        stored.fields.remove([Self.generationField])
        if let generation = source.sharedGeneration {
            stored.fields.append(Self.generationField, "\(generation)")
        }
        return ResponseRow(
            stored, key: source.key, url: source.stored.url.absoluteString,
            generation: source.generation, bodyLength: Int64(source.size), bodyChecksum: nil,
            freshUntil: freshUntil)
    }
}

struct TierUsage: Sendable {
    var entries = 0
    var bytes = 0
    var evictions = 0

    init() {}

    init(of files: CacheDirectory) throws {
        (entries, bytes) = try files.usage()
        evictions = files.evictionCount
    }

    init<Value>(of memory: MemoryStorage.Backend<Value>) {
        (entries, bytes) = (memory.count, memory.totalCacheCost())
        evictions = memory.evictionCount
    }
}

extension CacheDirectory {
    /// One of the server's caches. Its folder is made here if possible, else when first written to.
    convenience init(
        _ tier: ImageServerConfiguration.Tier, named name: String, in directory: URL,
        time: TimeSource
    ) {
        var config = DiskStorage.Config(
            name: name, sizeLimit: UInt(max(1, tier.bytes)), directory: directory)
        config.cachePathBlock = { $0.appendingPathComponent($1, isDirectory: true) }
        config.expiration = .seconds(tier.maxAge.inSeconds)
        self.init(config: config, now: time.expirationDate)
        // The first use reports the error.
        try? makeFolder()
    }
}

extension TimeSource {
    /// The date for expirations, for which the system's need not be exact.
    var expirationDate: @Sendable () -> Date {
        guard isSystem else { return { date } }
        return { .coarse }
    }
}
