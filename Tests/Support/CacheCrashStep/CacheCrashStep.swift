import Foundation
import Halcyon
import HalcyonStorage
import Synchronization

/// A program that performs one operation on the disk cache in a folder, to be interrupted at it, or
/// many beside another process, or checks the result.
@main
struct CacheCrashStep {
    static let usage = """
        usage: CacheCrashStep prepare|store|batch|overwrite|respond|clean|rebuild|check FOLDER
               CacheCrashStep mix FOLDER COUNT SEED
               CacheCrashStep check-mixed FOLDER
               CacheCrashStep download FOLDER URL
               CacheCrashStep descriptors URL
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("mix", 4):
                guard let count = Int(arguments[2]), let seed = UInt64(arguments[3]) else { fail() }
                try MixedOperations(folder: arguments[1]).run(count, seed: seed)
            case ("check-mixed", 2):
                try MixedOperations(folder: arguments[1]).check()
            case ("download", 3):
                guard let url = URL(string: arguments[2]) else { fail() }
                try await download(url, keepingPartialsIn: arguments[1])
            case ("descriptors", 2):
                guard let url = URL(string: arguments[1]) else { fail() }
                await downloadWithoutDescriptors(url)
            case (let step?, 2):
                try run(step, in: arguments[1])
            default:
                fail()
            }
        } catch {
            print(error)
            exit(1)
        }
    }

    private static func fail() -> Never {
        print(usage)
        exit(2)
    }

    /// Downloads a picture, and stores the received part if the download is interrupted. Prints a line when
    /// a beginning is stored.
    private static func download(_ url: URL, keepingPartialsIn folder: String) async throws {
        let downloader = ImageDownloader(name: "step")
        downloader.downloadTimeout = 600
        downloader.resumption = DownloadResumption(
            directory: URL(filePath: folder, directoryHint: .isDirectory))
        _ = try await downloader.downloadImage(with: url) { received, _ in
            // A file grows by blocks of 256 KiB.
            guard received > 300 << 10 else { return }
            Task {
                await downloader.finishWritingPartials()
                FileHandle.standardOutput.write(Data("written\n".utf8))
            }
        }
    }

    /// Downloads a picture without free file descriptors, with them, and without one for the next
    /// connection, and prints each outcome.
    private static func downloadWithoutDescriptors(_ url: URL) async {
        func outcome(of url: URL) async -> String {
            do {
                return
                    "\(try await ImageDownloader.default.downloadImage(with: url).originalData.count) bytes"
            } catch {
                return error.localizedDescription
            }
        }
        // Lets Dispatch and libcurl open their own descriptors first, which are not under test.
        _ = try? await Task.sleep(for: .milliseconds(1))
        var taken: [Int32] = []
        func takeAll() {
            while case let next = dup(2), next >= 0 { taken.append(next) }
        }
        func giveBack() {
            for descriptor in taken { close(descriptor) }
            taken = []
        }
        takeAll()
        print(await outcome(of: url))
        giveBack()
        print(await outcome(of: url))
        takeAll()
        // Another host name, so that no connection can be reused.
        let other = url.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        print(await outcome(of: URL(string: other) ?? url))
        giveBack()
        print(await outcome(of: URL(string: other) ?? url))
    }

    private static func run(_ step: String, in folder: String) throws {
        let cache = try CrashCache(folder: folder)
        switch step {
        case "prepare": try cache.prepare()
        case "store": try cache.store(.init(key: "new", version: 1))
        case "batch": try cache.storeTogether()
        case "overwrite": try cache.store(.init(key: "a", version: 2))
        case "respond": try cache.respond(with: .init(key: "a", version: 2))
        case "clean": try cache.clean()
        case "rebuild": try cache.rebuild()
        case "check": try cache.check()
        default: fail()
        }
    }
}

/// A violated invariant of the cache.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// A cache of a few files whose contents are known.
struct CrashCache {
    /// A value stored for a key.
    struct Value {
        let key: String
        let version: Int

        var bytes: Data {
            Data(String(repeating: "\(key), version \(version). ", count: 300 + version).utf8)
        }
    }

    let folder: URL
    let storage: DiskStorage.Backend<Data>
    /// The directory of the same folder, for its stored responses.
    let files: CacheDirectory

    init(folder: String) throws {
        self.folder = URL(filePath: folder, directoryHint: .isDirectory)
        storage = try Self.open(self.folder)
        files = try Self.openFiles(self.folder)
    }

    private static func config(_ folder: URL) -> DiskStorage.Config {
        var config = DiskStorage.Config(name: "crash", sizeLimit: 0, directory: folder)
        config.cachePathBlock = { folder, _ in folder }
        return config
    }

    private static func open(_ folder: URL) throws -> DiskStorage.Backend<Data> {
        try DiskStorage.Backend(config: config(folder))
    }

    private static func openFiles(_ folder: URL) throws -> CacheDirectory {
        let files = CacheDirectory(config: config(folder), now: { Date() })
        try files.makeFolder()
        return files
    }

    // MARK: Steps

    /// Stores two files to stay, two that were made of a response, and one that is expired on
    /// return.
    func prepare() throws {
        for key in ["b", "c"] { try store(Value(key: key, version: 1)) }
        for key in ["a", "d"] { try respond(with: Value(key: key, version: 1)) }
        // In the future: a value that has already expired is not stored.
        let end = Date(timeIntervalSinceNow: 1)
        try storage.store(
            value: Value(key: "old", version: 1).bytes, forKey: "old", expiration: .date(end))
        Thread.sleep(until: end)
    }

    func store(_ value: Value) throws {
        try storage.store(value: value.bytes, forKey: value.key, expiration: .never)
    }

    /// Stores a new and an existing file whose rows are written together, as `ImageCache` does. Any
    /// failure fails the whole.
    func storeTogether() throws {
        let values = [Value(key: "new", version: 1), Value(key: "a", version: 2)]
        let ends = Mutex<[Result<Void, StorageError>]>([])
        for value in values { files.announce(byteCount: value.bytes.count) }
        for value in values {
            let file = try files.newFile(
                files.fileName(forKey: value.key), forKey: value.key, expiration: .never,
                overwriting: true, derivation: .program
            ) { value.bytes }
            guard let file else { throw Violation(description: "\(value.key) is not stored") }
            files.store(file) { end in ends.withLock { $0.append(end) } }
        }
        // The last one writes the rows of all before it returns.
        let results = ends.withLock { $0 }
        guard results.count == values.count else {
            throw Violation(description: "\(results.count) of \(values.count) stores have ended")
        }
        for result in results { try result.get() }
    }

    /// Stores a value as made from a response whose generation is the value's version.
    func respond(with value: Value) throws {
        let now = Date().timeIntervalSince1970
        let row = ResponseRow(
            key: "response", variant: Data(), vary: "", url: "https://host/", status: 200,
            fields: Data("[]".utf8), requested: now, received: now,
            generation: Int64(value.version), bodyLength: nil, bodyChecksum: nil, freshUntil: now,
            isInvalidated: false, used: now)
        try files.store(
            ResponsePut(row: row), with: value.bytes, isOriginal: false, forKey: value.key,
            expiration: .never)
    }

    func clean() throws {
        guard try storage.removeExpiredValues().count == 1 else {
            throw Violation(description: "the expired file was not removed")
        }
    }

    /// Uses the cache after its index was removed.
    func rebuild() throws {
        guard try storage.value(forKey: "b") == Value(key: "b", version: 1).bytes else {
            throw Violation(description: "a file was not adopted")
        }
    }

    // MARK: What has to hold whatever happened

    func check() throws {
        let before = try values(in: storage)
        for key in ["b", "c"] where before[key] == nil {
            throw Violation(description: "\(key) is lost, which nobody has touched")
        }
        try checkRows()
        try checkOrigins(in: files)

        try store(Value(key: "after", version: 1))
        // A day later the leftovers of a crash are old enough to be removed.
        _ = try storage.removeExpiredValues(referenceDate: Date(timeIntervalSinceNow: 86_400))
        try checkRows()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let rows = Set(try storage.entries().map(\.fileName))
        for name in names where !name.hasPrefix(".index") && !rows.contains(name) {
            throw Violation(description: "\(name) is left over")
        }

        // Retained until the end: its release writes pending notes, perhaps during the removal.
        let opened = try Self.open(folder)
        defer { withExtendedLifetime(opened) {} }
        let after = try values(in: opened)
        for key in ["b", "c", "after"] where after[key] == nil {
            throw Violation(description: "\(key) is lost after the cleaning")
        }
        let openedFiles = try Self.openFiles(folder)
        defer { withExtendedLifetime(openedFiles) {} }
        try checkOrigins(in: openedFiles)
        _ = try storage.removeAllFiles()
        // The other instances write pending notes from time to time, and may create an index for
        // that.
        let rest = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".index") }
        guard rest.isEmpty else { throw Violation(description: "\(rest) is left over") }
        let listed = try storage.entries().map(\.key)
        guard listed.isEmpty else {
            throw Violation(description: "\(listed) is in the index still")
        }
    }

    /// Returns the cached versions, and checks that each was stored.
    private func values(in storage: DiskStorage.Backend<Data>) throws -> [String: Int] {
        var found: [String: Int] = [:]
        for (key, versions) in ["a": 2, "b": 1, "c": 1, "d": 1, "old": 1, "new": 1, "after": 1] {
            guard let bytes = try storage.value(forKey: key) else { continue }
            found[key] = (1...versions).first { Value(key: key, version: $0).bytes == bytes }
            if found[key] == nil { throw Violation(description: "\(key) has wrong bytes") }
        }
        return found
    }

    /// Checks that each value linked to a response has the bytes of the response's generation.
    private func checkOrigins(in files: CacheDirectory) throws {
        for key in ["a", "d"] {
            let name = files.fileName(forKey: key)
            let origin = try files.origin(of: name)
            guard case .response(_, _, let generation, _) = origin?.derivation else { continue }
            let value = try files.value(of: name, forKey: key, extending: .none) { $0 }
            guard let value else { continue }
            guard value == Value(key: key, version: Int(generation)).bytes else {
                throw Violation(description: "\(key) is linked to a wrong response")
            }
        }
        for (row, files) in try files.allResponses() where files.isEmpty {
            throw Violation(description: "there is no file of the response \(row.generation)")
        }
    }

    /// Compares the rows with the files and with the total.
    private func checkRows() throws {
        let entries = try storage.entries()
        for entry in entries {
            let file = folder.appending(path: entry.fileName)
            let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
            // The file of a row may be gone until the next cleaning, but is never another one.
            if let size, size != entry.size {
                throw Violation(description: "the row of \(entry.fileName) has a wrong size")
            }
        }
        let sum = entries.reduce(0) { $0 + $1.size }
        guard try storage.totalSize() == UInt(sum) else {
            throw Violation(description: "the total is wrong")
        }
    }
}
