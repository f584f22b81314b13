import Foundation
import Halcyon
import HalcyonTelemetry
import HalcyonWork
import NIOCore
import NIOFoundationCompat
import Synchronization
import Tracing

/// A finished picture, encoded as it is sent.
final class MadePicture: Sendable, CacheCostCalculable {
    let key: String
    let body: ByteBuffer
    let format: ImageFormat
    /// `nil` for a picture that is not cached.
    let origin: PictureOrigin?
    let isTruncated: Bool
    private let isOutOfStore: Bool
    private let wasWritten = Atomic(false)

    init(
        key: String, body: ByteBuffer, format: ImageFormat, origin: PictureOrigin?,
        isTruncated: Bool = false, isOutOfStore: Bool = false
    ) {
        self.key = key
        self.body = body
        self.format = format
        self.origin = origin
        self.isTruncated = isTruncated
        self.isOutOfStore = isOutOfStore
    }

    /// The bytes it takes, which for a buffer are a power of two.
    var cacheCost: Int { body.storageCapacity + 512 }

    /// Whether it is in the store of bytes, but not on the disk yet.
    var isUnwritten: Bool { isOutOfStore && !wasWritten.load(ordering: .relaxed) }

    /// - Returns: Whether it is to be written now; only once.
    fileprivate func takeTurn() -> Bool {
        isUnwritten && !wasWritten.exchange(true, ordering: .relaxed)
    }
}

/// A cache of finished pictures, in memory and on the disk. A key names everything that a picture
/// was made of, so no entry is removed because its source has changed. Purges go by the origin of a
/// picture, which the file index knows, too.
final class ResultCache: Sendable {
    private let memory: MemoryStorage.Backend<MadePicture>?
    private let files: CacheDirectory?
    private let writes = DiskOperations()
    /// Bytes of the largest picture on the disk: larger ones would evict too many others.
    private let largest: Int
    private let metrics: ServerMetrics
    private let spans: SpanScope
    private let time: TimeSource
    private let onError: @Sendable (any Error) -> Void

    init(
        _ tier: ImageServerConfiguration.Tier, in directory: URL, metrics: ServerMetrics,
        spans: SpanScope, time: TimeSource, onError: @escaping @Sendable (any Error) -> Void
    ) {
        self.metrics = metrics
        self.spans = spans
        self.time = time
        self.onError = onError
        largest = tier.bytes / 20
        files =
            tier.bytes > 0 ? CacheDirectory(tier, named: "results", in: directory, time: time) : nil
        guard tier.memoryBytes > 0 else {
            memory = nil
            return
        }
        var config = MemoryStorage.Config(totalCostLimit: tier.memoryBytes)
        config.expiration = .seconds(tier.maxAge.inSeconds)
        memory = MemoryStorage.Backend(config: config, now: time.expirationDate)
    }

    var memoryUsage: TierUsage { memory.map(TierUsage.init(of:)) ?? TierUsage() }

    func remembered(_ key: String) -> MadePicture? { memory?.value(forKey: key) }

    /// Returns a picture from the disk, and keeps it in memory.
    func stored(
        _ key: String, of origin: PictureOrigin, during visit: PurgeVisit?
    ) async -> MadePicture? {
        guard let files else { return nil }
        return await spans.span("halcyon.cache.read") { span in
            let picture = await read(key, of: origin, during: visit, from: files)
            span?.attributes["halcyon.cache"] = picture == nil ? "miss" : "hit"
            return picture
        }
    }

    private func read(
        _ key: String, of origin: PictureOrigin, during visit: PurgeVisit?,
        from files: CacheDirectory
    ) async -> MadePicture? {
        do {
            let picture = try await DiskLane.reading.run {
                try files.value(
                    of: files.fileName(forKey: key), forKey: key, extending: .cacheTime
                ) { data in
                    MadePicture(
                        key: key, body: ByteBuffer(data: data),
                        format: ImageSniffer.format(of: data), origin: origin)
                }
            }
            if let picture {
                // So that the index evicts unused entries first.
                files.noteUse(ofResponse: origin.source, variant: Data())
                remember(picture, key, of: origin, during: visit)
            }
            return picture
        } catch {
            onError(error)
            return nil
        }
    }

    /// Caches a picture: in memory at once, on the disk a little later. One from the store of bytes
    /// is written to the disk only when it is requested again, since a file and its row take longer
    /// than all the rest. One whose origin was purged since the visit began is not cached.
    ///
    /// - Returns: Whether it will be on the disk.
    @discardableResult
    func keep(
        _ picture: MadePicture, _ data: Data, for key: String, of origin: PictureOrigin,
        during visit: PurgeVisit?
    ) -> Bool {
        guard remember(picture, key, of: origin, during: visit),
            memory == nil || !picture.isUnwritten,
            // Files do not record this.
            !picture.isTruncated
        else { return false }
        write(data, for: key, of: origin, during: visit)
        return true
    }

    /// Writes a picture in memory to the disk, and returns whether that was left for its next use.
    func keepOnDisk(_ picture: MadePicture, during visit: PurgeVisit?) -> Bool {
        guard picture.takeTurn(), let origin = picture.origin else { return false }
        write(Data(buffer: picture.body), for: picture.key, of: origin, during: visit)
        return true
    }

    private func write(
        _ data: Data, for key: String, of origin: PictureOrigin, during visit: PurgeVisit?
    ) {
        guard let files, data.count <= largest else { return }
        let name = files.fileName(forKey: key)
        let context = ServiceContext.current
        _ = writes.enqueue(.file(name)) { [onError, metrics, spans, time] finish in
            DiskLane.writing.submit {
                let start = time.now
                var isWritten = false
                do {
                    // A purge is noted before its turn on the disk: whichever comes first here, the file
                    // does not stay.
                    if visit?.hasForgotten(origin) != true {
                        try files.store(
                            ResponsePut(row: ResponseRow(origin, at: time.date)), with: data,
                            isOriginal: false,
                            named: name, forKey: "\(origin.planName) \(key)")
                        _ = metrics.noteStage("write", since: start)
                    }
                    isWritten = true
                } catch {
                    onError(error)
                }
                spans.note("halcyon.cache.write", from: start, in: context, failed: !isWritten)
                finish(())
            }
        }
    }

    /// Keeps a picture in memory, unless its origin has been purged since the visit began: `false`.
    @discardableResult
    func remember(
        _ picture: MadePicture, _ key: String, of origin: PictureOrigin, during visit: PurgeVisit?
    ) -> Bool {
        if visit?.hasForgotten(origin) == true { return false }
        memory?.store(value: picture, forKey: key)
        // Or meanwhile: then it may have come after the purge.
        if visit?.hasForgotten(origin) == true {
            memory?.remove(forKey: key)
            return false
        }
        return true
    }

    /// Removes the results of sources or plans.
    ///
    /// - Parameter journal: Told of the purge twice: first, so that nothing begun before is kept,
    ///   and then, so that nothing is in memory that was on the disk until then.
    /// - Returns: The number of pictures known here, and the keys of those that were on the disk or
    ///   came from the store of bytes.
    func forget(
        _ purge: Purge, noting journal: PurgeJournal
    ) async -> (count: Int, keys: [String]) {
        journal.note(purge)
        var gone = (count: 0, keys: [String]())
        if let files {
            let removal = writes.enqueue(.everything) { [onError] finish in
                DiskLane.writing.submit {
                    do {
                        finish(try Self.remove(purge, from: files))
                    } catch {
                        onError(error)
                        finish((0, []))
                    }
                }
            }
            gone = await removal.value
        }
        journal.note(purge)
        let removed = memory?.removeAll { $0.origin.map(purge.matches) ?? true } ?? []
        // The others were on the disk, too.
        let known = Set(gone.keys)
        let others = removed.map(\.key).filter { !known.contains($0) }
        gone.count += others.count
        gone.keys += others
        return gone
    }

    private static func remove(
        _ purge: Purge, from files: CacheDirectory
    ) throws -> (count: Int, keys: [String]) {
        var isPlanMeant: (Substring?) -> Bool = { _ in true }
        var isSourceMeant = purge.matches(source:url:)
        switch purge {
        case .everything:
            let keys = try files.entries().compactMap { $0.key.flatMap(Self.pictureKey) }
            return (try files.removeAll().count, keys)
        case .plans(let plans, let source):
            isPlanMeant = { $0.map { plans.contains(String($0)) } ?? false }
            isSourceMeant = { key, _ in RemoteSource.plainKey(key) == source }
        case .source, .file, .prefix: break
        }
        var keys: [String] = []
        let count = try files.removeFiles(
            ofResponsesWhere: isSourceMeant,
            where: { name in
                guard isPlanMeant(name.split(separator: " ").first) else { return false }
                if let key = Self.pictureKey(name) { keys.append(key) }
                return true
            }
        ).files
        return (count, keys)
    }

    /// Returns the key of a picture from its entry in the file index: behind the plan's name.
    private static func pictureKey(_ name: String) -> String? {
        let words = name.split(separator: " ")
        return words.count == 2 ? String(words[1]) : nil
    }

    func finishWriting() async { await writes.finishAll() }

    func diskUsage() async -> TierUsage {
        guard let files else { return TierUsage() }
        // A folder that cannot be read has nothing in it.
        return await DiskLane.reading.run { (try? TierUsage(of: files)) ?? TierUsage() }
    }

    func clean() async {
        guard let files else { return }
        do {
            _ = try await DiskLane.writing.run { try files.removeExpired() }
        } catch {
            onError(error)
        }
    }
}

extension ResponseRow {
    /// The row of a picture's source in the file index, one for all versions of the source.
    fileprivate init(_ origin: PictureOrigin, at date: Date) {
        let now = date.timeIntervalSince1970
        self.init(
            key: origin.source, variant: Data(), vary: "", url: origin.url, status: 200,
            fields: Data("[]".utf8), requested: now, received: now, generation: 1, bodyLength: nil,
            bodyChecksum: nil, freshUntil: now, isInvalidated: false, used: now)
    }
}
