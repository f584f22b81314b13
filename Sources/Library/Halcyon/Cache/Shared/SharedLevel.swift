import Foundation
import HalcyonStorage
import HalcyonWork
import Synchronization

/// The storage that a cache shares with other machines, behind its disk.
///
/// Nothing that it does or fails to do fails a request. Changes of one file are made in the order they were
/// asked for, a few files at a time.
final class SharedLevel: Sendable {
    let storage: any SharedImageStorage
    /// Files that are being fetched, by their names; `nil` without one.
    let fetches = SharedWork<String, Data?>()
    /// Caches of one name share their files.
    private let cacheName: String
    private let changes = DiskOperations()
    /// Limits how many changes are made at a time.
    private let lanes = DiskOperations()
    private let waitingBytes = Mutex(0)
    private let lastTrouble = Mutex<ContinuousClock.Instant?>(nil)

    private static let laneCount = 8
    /// While more bytes than this wait to be stored, more are not shared.
    private static let mostWaitingBytes = 64 << 20

    init(_ storage: any SharedImageStorage, cacheName: String) {
        self.storage = storage
        self.cacheName = cacheName
    }

    /// What a file is called there.
    func name(forComputedKey key: String, forcedExtension: String?) -> String {
        Digest.sha256.hexadecimal("\(cacheName)\n\(forcedExtension ?? "")\n\(key)")
    }

    func name(of key: ImageKey) -> String {
        name(forComputedKey: key.text, forcedExtension: key.forcedExtension)
    }

    /// The file of this name as all changes asked for here have left it; `nil` also when the storage fails.
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

    /// Waits for the changes of a file that were asked for.
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

    /// Tells of a storage that fails, once a minute.
    private func note(_ error: any Error) {
        let isNews = lastTrouble.withLock { last in
            if let last, .now - last < .seconds(60) { return false }
            last = .now
            return true
        }
        if isNews { HalcyonLog.warn("The shared storage of a cache cannot be used: \(error)") }
    }
}
