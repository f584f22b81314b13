import Foundation
import GRDB
import HalcyonTestKit
import Testing

@testable import HalcyonStorage

/// A store in a folder of its own, and what is stored in it.
struct ResponseFixture {
    let folder: TemporaryDirectory
    let time = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    let store: CacheDirectory

    init() throws {
        folder = try TemporaryDirectory()
        store = Self.open(folder, time)
    }

    /// A store as another process, or the next start of this one, would have it. It waits for locks as long
    /// as a busy machine may take to give them back, unless `patience` says otherwise.
    func makeStore(patience: Duration = .seconds(600)) -> CacheDirectory {
        Self.open(folder, time, patience)
    }

    private static func open(
        _ folder: TemporaryDirectory, _ time: Locked<Date>, _ patience: Duration = .seconds(600)
    ) -> CacheDirectory {
        let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.url)
        let store = CacheDirectory(config: config, now: { time.value }, lockPatience: patience)
        #expect(throws: Never.self) { try store.makeFolder() }
        return store
    }

    func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    /// A response that arrived so many seconds after the start.
    func row(
        _ key: String, generation: Int64, received: Double = 0, variant: String = ""
    ) -> ResponseRow {
        let start = 1_700_000_000 + received
        return ResponseRow(
            key: key, variant: Data(variant.utf8), vary: variant.isEmpty ? "" : "accept",
            url: "https://host/\(key)", status: generation == 0 ? 301 : 200,
            fields: Data(#"[["ETag","\"a\""]]"#.utf8), requested: start - 0.5, received: start,
            generation: generation, bodyLength: generation == 0 ? nil : 9, bodyChecksum: nil,
            freshUntil: start + 60, isInvalidated: false, used: start)
    }

    func derivation(_ row: ResponseRow, isOriginal: Bool = false) -> Derivation {
        .response(
            key: row.key, variant: row.variant, generation: row.generation, isOriginal: isOriginal)
    }

    /// Stores a file that was made of a response which is new.
    func put(
        _ text: String, as name: String, of row: ResponseRow, superseded: [String] = [],
        expiration: StorageExpiration = .never, in other: CacheDirectory? = nil
    ) throws {
        let put = ResponsePut(row: row, superseded: superseded.map { Data($0.utf8) })
        try write(
            text, as: name, made: derivation(row), with: put, expiration: expiration, in: other)
    }

    func write(
        _ text: String, as name: String, made derivation: Derivation? = nil,
        with response: ResponsePut? = nil, expiration: StorageExpiration = .never,
        in other: CacheDirectory? = nil
    ) throws {
        let store = other ?? store
        let file = try store.newFile(
            store.fileName(forKey: name), forKey: name, expiration: expiration, overwriting: true,
            derivation: derivation, response: response
        ) { Data(text.utf8) }
        try store.store(#require(file))
    }

    func text(_ name: String, in other: CacheDirectory? = nil) throws -> String? {
        let store = other ?? store
        return try store.value(of: store.fileName(forKey: name), forKey: name, extending: .none) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func origin(_ name: String, in other: CacheDirectory? = nil) throws -> FileOrigin? {
        let store = other ?? store
        return try store.origin(of: store.fileName(forKey: name))
    }

    /// Keys and generations of all responses, those used last first.
    func responses(in other: CacheDirectory? = nil) throws -> [String] {
        try (other ?? store).allResponses().map { "\($0.row.key) \($0.row.generation)" }
    }

    /// Changes the index as anybody could.
    func change(_ statements: String...) throws {
        for statement in statements {
            try store.withIndex(validated: true) { index in
                try index.write { try $0.execute(statement, []) }
            }
        }
    }

    /// The first column of what a query finds in the index, as text.
    func column(_ query: String, in other: CacheDirectory) throws -> [String?]? {
        try other.withIndex(validated: true) { index in
            try index.read { try String?.fetchAll($0.db, sql: query) }
        }
    }

    /// Replaces a file and its row as a program does that knows nothing of responses.
    func overwrite(_ name: String, with text: String) throws {
        let file = store.url(of: store.fileName(forKey: name))
        try Data(text.utf8).write(to: file)
        try change(
            """
            UPDATE files SET size = \(text.utf8.count), \
            checksum = \(DiskFile.checksum(Data(text.utf8))) WHERE name = '\(file.lastPathComponent)'
            """)
    }
}
