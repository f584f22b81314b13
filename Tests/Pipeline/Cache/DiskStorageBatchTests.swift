import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Files that are stored at the same time and share a transaction.
@Suite struct DiskStorageBatchTests {
    let folder: TemporaryDirectory
    let storage: DiskStorage.Backend<Note>
    private let group = DispatchGroup()

    init() throws {
        folder = try TemporaryDirectory()
        storage = try folder.notes()
    }

    /// Stores a text, under itself unless a key is given, together with what is stored meanwhile.
    private func store(
        _ text: String, forKey key: String? = nil, expiration: StorageExpiration? = nil,
        options: Data.WritingOptions = [],
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let key = key ?? text
        group.enter()
        storage.store(
            value: Note(text), forKey: key, named: storage.cacheFileName(forKey: key),
            expiration: expiration, writeOptions: options
        ) { [group] in
            completion($0)
            group.leave()
        }
    }

    @Test func whatIsToldToBeStoredIsThereForEverybody() throws {
        let failures = Recorder<String>()
        let other = try folder.notes()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 0..<60 {
                let key = "\(thread)-\(step)"
                store(key) { result in
                    if case .failure = result { failures.record(key) }
                    // The promise holds from the moment it is given: another storage, which has only
                    // the index and the file, has the value.
                    if (try? other.value(forKey: key)) != Note(key) { failures.record(key) }
                }
            }
        }
        group.wait()
        #expect(failures.events.isEmpty)
        #expect(try Int(storage.totalSize()) == storage.directoryURL.visibleSize())
        let hidden = try #require(CacheFolder(storage.directoryURL.path).names(hidden: true))
        #expect(Set(hidden).isSubset(of: DiskIndex.fileNames))
    }

    @Test func theLimitHoldsAfterEachBatch() throws {
        storage.config.sizeLimit = 400
        let excesses = Recorder<UInt>()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 0..<60 {
                let text = String(repeating: "\(thread)", count: 20 + step)
                store(text) { _ in
                    let size = (try? storage.totalSize()) ?? .max
                    if size > 400 { excesses.record(size) }
                }
            }
        }
        group.wait()
        #expect(excesses.events.isEmpty)
        #expect(try storage.directoryURL.visibleSize() <= 400)
        #expect(try Int(storage.totalSize()) == storage.directoryURL.visibleSize())
    }

    @Test func aFileThatMayNotBeReplacedFailsAlone() throws {
        try storage.store(value: Note("former"), forKey: "7")
        let results = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for step in 0..<20 where step % 2 == thread {
                store("\(step)", options: .withoutOverwriting) { result in
                    if case .failure = result { results.record("\(step)") }
                }
            }
        }
        group.wait()
        #expect(results.events == ["7"])
        #expect(try storage.value(forKey: "7") == Note("former"))
        #expect(try storage.value(forKey: "8") == Note("8"))
        #expect(try Int(storage.totalSize()) == storage.directoryURL.visibleSize())
    }

    @Test func aValueWaitsForTheAnnouncedOneWhetherThatIsKeptOrNot() throws {
        for isKept in [true, false] {
            let results = Recorder<String>()
            storage.files.announce(byteCount: 10)
            storage.files.announce(byteCount: 10)
            store("first \(isKept)") { if case .success = $0 { results.record("first") } }
            #expect(results.events.isEmpty)
            store("second", expiration: isKept ? nil : .expired) {
                if case .success = $0 { results.record("second") }
            }
            #expect(results.events == ["first", "second"])
            #expect(try storage.value(forKey: "first \(isKept)") == Note("first \(isKept)"))
        }
    }

    @Test func aFolderThatVanishesIsMadeAgain() throws {
        try storage.store(value: Note("one"), forKey: "1")
        try FileManager.default.removeItem(at: storage.directoryURL)
        let results = Recorder<Bool>()
        for step in 0..<10 {
            store("\(step)") { result in
                if case .success = result { results.record(true) }
            }
        }
        group.wait()
        #expect(results.events.count == 10)
        #expect(try storage.value(forKey: "9") == Note("9"))
    }

    @Test func storesRemovesAndReadsMixAsTheyLike() throws {
        let wrong = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            for step in 0..<100 {
                let key = "\(Int.random(in: 0..<6, using: &random))"
                switch step % 5 {
                case 0, 1, 2:
                    store("\(key):\(thread).\(step)", forKey: key) { result in
                        if case .failure(let error) = result { wrong.record("\(error)") }
                    }
                case 3:
                    if (try? storage.remove(forKey: key)) == nil { wrong.record("remove \(key)") }
                default:
                    let text = try? storage.value(forKey: key)?.text
                    if let text, !text.hasPrefix("\(key):") { wrong.record(text) }
                }
            }
        }
        group.wait()
        #expect(wrong.events.isEmpty)
        #expect(try Int(storage.totalSize()) == storage.directoryURL.visibleSize())
    }
}
