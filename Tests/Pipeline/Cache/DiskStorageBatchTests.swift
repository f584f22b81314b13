import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Files that are stored at the same time and share a transaction.
@Suite struct DiskStorageBatchTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Bytes of all files that can be seen in the folder.
    private func visibleSize(_ storage: DiskStorage.Backend<Note>) throws -> Int {
        try FileManager.default.contentsOfDirectory(
            at: storage.directoryURL, includingPropertiesForKeys: [.fileSizeKey],
            options: .skipsHiddenFiles
        ).reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
    }

    @Test func whatIsToldToBeStoredIsThereForEverybody() throws {
        let storage = try folder.notes()
        let failures = Recorder<String>()
        let other = try folder.notes()
        let group = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 0..<60 {
                let key = "\(thread)-\(step)"
                group.enter()
                storage.store(key) { result in
                    if case .failure = result { failures.record(key) }
                    // The promise holds from the moment it is given: another storage, which has only
                    // the index and the file, has the value.
                    if (try? other.value(forKey: key)) != Note(key) { failures.record(key) }
                    group.leave()
                }
            }
        }
        group.wait()
        #expect(failures.events.isEmpty)
        #expect(try Int(storage.totalSize()) == visibleSize(storage))
        let hidden = try #require(CacheFolder(storage.directoryURL.path).names(hidden: true))
        #expect(Set(hidden).isSubset(of: DiskIndex.fileNames))
    }

    @Test func theLimitHoldsAfterEachBatch() throws {
        let storage = try folder.notes(sizeLimit: 400)
        let group = DispatchGroup()
        let excesses = Recorder<UInt>()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 0..<60 {
                group.enter()
                let text = String(repeating: "\(thread)", count: 20 + step)
                storage.store(text) { _ in
                    let size = (try? storage.totalSize()) ?? .max
                    if size > 400 { excesses.record(size) }
                    group.leave()
                }
            }
        }
        group.wait()
        #expect(excesses.events.isEmpty)
        #expect(try visibleSize(storage) <= 400)
        #expect(try Int(storage.totalSize()) == visibleSize(storage))
    }

    @Test func aFileThatMayNotBeReplacedFailsAlone() throws {
        let storage = try folder.notes()
        try storage.store(value: Note("former"), forKey: "7")
        let results = Recorder<String>()
        let group = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for step in 0..<20 where step % 2 == thread {
                group.enter()
                storage.store("\(step)", options: .withoutOverwriting) { result in
                    if case .failure = result { results.record("\(step)") }
                    group.leave()
                }
            }
        }
        group.wait()
        #expect(results.events == ["7"])
        #expect(try storage.value(forKey: "7") == Note("former"))
        #expect(try storage.value(forKey: "8") == Note("8"))
        #expect(try Int(storage.totalSize()) == visibleSize(storage))
    }

    @Test func aValueWaitsForTheAnnouncedOneWhetherThatIsKeptOrNot() throws {
        let storage = try folder.notes()
        for isKept in [true, false] {
            let results = Recorder<String>()
            storage.announceStore(byteCount: 10)
            storage.announceStore(byteCount: 10)
            storage.store("first \(isKept)") { if case .success = $0 { results.record("first") } }
            #expect(results.events.isEmpty)
            storage.store(
                value: Note("second"), forKey: "second",
                named: storage.cacheFileName(forKey: "second"),
                expiration: isKept ? nil : .expired, writeOptions: []
            ) { if case .success = $0 { results.record("second") } }
            #expect(results.events == ["first", "second"])
            #expect(try storage.value(forKey: "first \(isKept)") == Note("first \(isKept)"))
        }
    }

    @Test func aFolderThatVanishesIsMadeAgain() throws {
        let storage = try folder.notes()
        try storage.store(value: Note("one"), forKey: "1")
        try FileManager.default.removeItem(at: storage.directoryURL)
        let group = DispatchGroup()
        let results = Recorder<Bool>()
        for step in 0..<10 {
            group.enter()
            storage.store("\(step)") { result in
                if case .success = result { results.record(true) }
                group.leave()
            }
        }
        group.wait()
        #expect(results.events.count == 10)
        #expect(try storage.value(forKey: "9") == Note("9"))
    }

    @Test func storesRemovesAndReadsMixAsTheyLike() throws {
        let storage = try folder.notes()
        let group = DispatchGroup()
        let wrong = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            for step in 0..<100 {
                let key = "\(Int.random(in: 0..<6, using: &random))"
                switch step % 5 {
                case 0, 1, 2:
                    group.enter()
                    storage.store("\(key):\(thread).\(step)", forKey: key) { result in
                        if case .failure(let error) = result { wrong.record("\(error)") }
                        group.leave()
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
        #expect(try Int(storage.totalSize()) == visibleSize(storage))
    }
}

extension DiskStorage.Backend<Note> {
    /// Stores a text, under itself unless a key is given, together with what is stored meanwhile.
    fileprivate func store(
        _ text: String, forKey key: String? = nil, options: Data.WritingOptions = [],
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let key = key ?? text
        store(
            value: Note(text), forKey: key, named: cacheFileName(forKey: key), expiration: nil,
            writeOptions: options, completion: completion)
    }
}
