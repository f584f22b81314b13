import Foundation
import HalcyonWork
import Synchronization

/// The storage shared with other machines, behind the cache's disk.
///
/// Its failures fail no request. Changes of one file are made in the order of their calls, a few
/// files at a time.
final class SharedLevel: Sendable {
    let storage: any SharedImageStorage
    /// The fetches in progress, by file name; the result is `nil` for a missing file.
    let fetches = SharedWork<String, Data?>()
    /// The name of the cache; caches with the same name share their files.
    private let cacheName: String
    private let changes = DiskOperations()
    /// Limits the number of concurrent changes: in a lane they follow one another.
    private let lanes = DiskOperations()
    private let waitingBytes = Mutex(0)
    private let lastTrouble = Mutex<ContinuousClock.Instant?>(nil)

    private static let laneCount = 8
    /// The limit of bytes waiting to be stored; beyond it further files are not shared.
    private static let mostWaitingBytes = 64 << 20

    init(_ storage: any SharedImageStorage, cacheName: String) {
        self.storage = storage
        self.cacheName = cacheName
    }

    func name(forComputedKey key: String, forcedExtension: String?) -> String {
        Digest.sha256.hexadecimal("\(cacheName)\n\(forcedExtension ?? "")\n\(key)")
    }

    func name(of key: ImageKey) -> String {
        name(forComputedKey: key.text, forcedExtension: key.forcedExtension)
    }

    /// Returns the file with this name after all changes requested here; `nil` also if the storage
    /// fails.
    func file(_ name: String) async -> SharedFile? {
        await finish(name)
        do {
            return try await storage.data(named: name).flatMap { SharedFile($0) }
        } catch {
            note(error)
            return nil
        }
    }

    func store(_ file: SharedFile, as name: String) {
        let count = file.bytes.count
        let isTaken = waitingBytes.withLock { bytes in
            guard bytes == 0 || bytes + count <= Self.mostWaitingBytes else { return false }
            bytes += count
            return true
        }
        guard isTaken else { return }
        change(name) { [self] in
            defer { waitingBytes.withLock { $0 -= count } }
            try await storage.store(file.data, named: name)
        }
    }

    @discardableResult
    func remove(_ name: String) -> OneShot<Void> {
        change(name) { [storage] in try await storage.remove(named: name) }
    }

    func finish(_ name: String) async {
        await changes.pending(name)?.value
    }

    @discardableResult
    private func change(
        _ name: String, _ body: @escaping @Sendable () async throws -> Void
    ) -> OneShot<Void> {
        let lane = "\(abs(name.hashValue % Self.laneCount))"
        return changes.enqueue(.file(name)) { [self] in
            await lanes.enqueue(.file(lane)) { [self] in
                do {
                    try await body()
                } catch {
                    note(error)
                }
            }.value
        }
    }

    /// Logs a storage failure, once a minute at most.
    private func note(_ error: any Error) {
        let isNews = lastTrouble.withLock { last in
            if let last, .now - last < .seconds(60) { return false }
            last = .now
            return true
        }
        if isNews { HalcyonLog.warn("The shared storage of a cache cannot be used: \(error)") }
    }
}
