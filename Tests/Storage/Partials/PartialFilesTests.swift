import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonStorage

@Suite struct PartialFilesTests {
    let folder: TemporaryDirectory
    /// Begins with the present, as the times of files are real: one that is just being made would
    /// otherwise be taken for one that was left behind long ago.
    private let now = Locked(
        Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))

    init() throws { folder = try TemporaryDirectory() }

    private var place: URL { folder.file("partials") }

    private func files(sizeLimit: Int = 1000, _ failures: Recorder<String> = Recorder())
        -> PartialFiles
    {
        PartialFiles(
            folder: place, sizeLimit: sizeLimit, expiration: .seconds(100),
            now: { [now] in now.value }, onFailure: { failures.record("\($0)") })
    }

    private func bytes(_ count: Int, seed: UInt8 = 1) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0) &* 7 &+ seed })
    }

    /// What a process that begins now finds.
    private func found(_ key: String) async -> PartialFile.Content? {
        let files = files()
        let file = files.file(forKey: key)
        let content = await file.content()
        file.close()
        // Others can have the file when this returns.
        await files.finishWriting()
        return content
    }

    private func write(_ data: Data, _ key: String, _ files: PartialFiles) async -> Bool {
        let file = files.file(forKey: key)
        let isKept = await file.append(data, at: 0, description: key).value
        file.close()
        await files.finishWriting()
        return isKept
    }

    @Test func whatIsAppendedIsFound() async throws {
        let files = files()
        let file = files.file(forKey: "a")
        #expect(await file.content() == nil)
        #expect(!FileManager.default.fileExists(atPath: place.path))
        #expect(await file.append(bytes(100), at: 0, description: "first").value)
        #expect(await file.append(bytes(50, seed: 9), at: 100, description: "second").value)
        file.close()
        await files.finishWriting()
        let content = try #require(await found("a"))
        #expect(content.bytes == bytes(100) + bytes(50, seed: 9) && content.description == "second")
        #expect(await found("b") == nil)
        #expect(await files.size == 150)
    }

    @Test func itGoesOnAfterWhatWasFound() async throws {
        #expect(await write(bytes(100), "a", files()))
        let files = files()
        let file = files.file(forKey: "a")
        #expect(await file.content()?.bytes == bytes(100))
        #expect(await file.append(bytes(10, seed: 5), at: 100, description: "a").value)
        file.close()
        await files.finishWriting()
        #expect(await found("a")?.bytes == bytes(100) + bytes(10, seed: 5))
    }

    @Test func whatIsInMemoryNeedNotBeRead() async throws {
        let files = files()
        #expect(await write(bytes(100), "a", files))
        let file = files.file(forKey: "a")
        // The file has the first 100 of these.
        #expect(await file.resume(bytes(130)) == 100)
        #expect(await file.append(bytes(130).dropFirst(100), at: 100, description: "a").value)
        file.close()
        await files.finishWriting()
        #expect(await found("a")?.bytes == bytes(130))
        // Others are dropped.
        let second = files.file(forKey: "a")
        #expect(await second.resume(bytes(130, seed: 8)) == 0)
        #expect(await second.append(bytes(5), at: 0, description: "a").value)
        second.close()
        await files.finishWriting()
        #expect(await found("a")?.bytes == bytes(5))
    }

    @Test func oneHoldsAFileAtATime() async throws {
        let (files, others) = (files(), files())
        let file = files.file(forKey: "a")
        #expect(await file.append(bytes(10), at: 0, description: "a").value)
        let other = others.file(forKey: "a")
        #expect(await other.content() == nil)
        #expect(await !other.append(bytes(20), at: 0, description: "a").value)
        await others.removeAll()
        #expect(await file.append(bytes(10), at: 10, description: "a").value)
        file.close()
        await files.finishWriting()
        #expect(await found("a")?.bytes == bytes(10) + bytes(10))
        // Who came second keeps nothing, also later.
        #expect(await !other.append(bytes(20), at: 0, description: "a").value)
    }

    @Test(arguments: [9, 11]) func bytesThatDoNotBelongThereEndTheFile(place: Int) async throws {
        let files = files()
        let file = files.file(forKey: "a")
        #expect(await file.append(bytes(10), at: 0, description: "a").value)
        #expect(await !file.append(bytes(10), at: place, description: "a").value)
        await files.finishWriting()
        #expect(await found("a") == nil)
    }

    @Test func aRemovedFileIsGone() async throws {
        let files = files()
        #expect(await write(bytes(100), "a", files))
        let file = files.file(forKey: "a")
        #expect(await file.content() != nil)
        file.remove()
        #expect(await !file.append(bytes(1), at: 0, description: "a").value)
        #expect(await found("a") == nil)
        #expect(await files.size == 0)
    }

    @Test func ofAllFilesThoseWrittenLongestAgoGo() async throws {
        let files = files(sizeLimit: 250)
        for key in ["a", "b"] {
            #expect(await write(bytes(100), key, files))
            now.withLock { $0 += 1 }
        }
        let first = files.file(forKey: "a")
        #expect(await first.content() != nil)
        #expect(await first.append(bytes(1), at: 100, description: "a").value)
        first.close()
        now.withLock { $0 += 1 }
        #expect(await write(bytes(100), "c", files))
        #expect(await found("a") != nil)
        #expect(await found("b") == nil)
        #expect(await found("c") != nil)
        #expect(await files.size == 201)
        // None is longer than all may be.
        #expect(await !write(bytes(251), "d", files))
        #expect(await found("d") == nil)
    }

    @Test func filesThatAreHeldStayHoweverOld() async throws {
        let files = files(sizeLimit: 150)
        let held = files.file(forKey: "a")
        #expect(await held.append(bytes(100), at: 0, description: "a").value)
        now.withLock { $0 += 1 }
        #expect(await write(bytes(100), "b", files))
        held.close()
        await files.finishWriting()
        #expect(await found("a") != nil)
    }

    @Test func expiredFilesAreNotFoundAndGo() async throws {
        #expect(await write(bytes(100), "a", files()))
        now.withLock { $0 += 100 }
        let files = files()
        #expect(await files.file(forKey: "b").content() == nil)
        files.clean()
        #expect(await files.size == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.path)
                .allSatisfy { $0.hasPrefix(".") })
    }

    @Test func aDamagedIndexCostsThePartsOnly() async throws {
        #expect(await write(bytes(100), "a", files()))
        try Data("no database at all, but long enough to be read as one".utf8)
            .write(to: place.appendingPathComponent(DiskIndex.fileName))
        #expect(await found("a") == nil)
        let files = files()
        #expect(await write(bytes(50), "a", files))
        #expect(await found("a")?.bytes == bytes(50))
    }

    @Test func aFolderThatCannotBeMadeIsToldOfOnce() async throws {
        try folder.write(Data(), to: "partials")
        let failures = Recorder<String>()
        let files = files(failures)
        #expect(await !write(bytes(100), "a", files))
        #expect(await !write(bytes(100), "b", files))
        #expect(failures.count == 1)
        #expect(await files.size == 0)
    }

    @Test func othersFilesInTheFolderStay() async throws {
        #expect(await write(bytes(100), "a", files()))
        let note = place.appendingPathComponent("note.part")
        try Data([1]).write(to: note)
        await files().removeAll()
        #expect(FileManager.default.fileExists(atPath: note.path))
        #expect(await found("a") == nil)
    }
}
