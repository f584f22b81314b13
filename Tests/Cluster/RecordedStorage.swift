import Foundation
import Halcyon
import HalcyonTestKit

/// A storage that records what has been stored in another one, and removed from it, by caches that share it.
struct RecordedStorage: SharedImageStorage {
    struct Log {
        let stored = Recorder<String>()
        let removed = Recorder<String>()
    }

    let storage: any SharedImageStorage
    let log: Log

    func data(named name: String) async throws -> Data? { try await storage.data(named: name) }

    func store(_ data: Data, named name: String) async throws {
        try await storage.store(data, named: name)
        log.stored.record(name)
    }

    func remove(named name: String) async throws {
        try await storage.remove(named: name)
        log.removed.record(name)
    }
}
