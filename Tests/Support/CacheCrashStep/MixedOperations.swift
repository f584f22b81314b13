import Foundation
import HalcyonStorage

/// Many changes of a few files and responses in random order, as one of several processes on a
/// folder.
///
/// The bytes of each file name its origin. Reading a file that the index lists as current returns
/// the bytes of that generation, or a miss.
struct MixedOperations {
    /// An operation and its relative frequency.
    private enum Operation: CaseIterable {
        case answer, derive, validate, read, removeFile, removeResponse, invalidate
        case storeByProgram, storeOfUnknownOrigin, clean

        var weight: Int {
            switch self {
            case .answer, .derive: 4
            case .validate: 3
            case .read: 12
            case .clean: 1
            default: 2
            }
        }

        /// All operations, each repeated by its weight.
        static let bag = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
    }

    private static let keys = (0..<4).map { "picture \($0)" }
    private static let sizes = (0..<3).map { "@\($0)" }

    let files: CacheDirectory

    init(folder: String) throws {
        var config = DiskStorage.Config(
            name: "mixed", sizeLimit: 0,
            directory: URL(filePath: folder, directoryHint: .isDirectory))
        config.cachePathBlock = { folder, _ in folder }
        // The test is about interference between two processes, however long one of them is
        // stopped.
        files = CacheDirectory(config: config, now: { Date() }, lockPatience: .seconds(60))
        try files.makeFolder()
    }

    /// Performs `count` operations, the same ones in each run with `seed`.
    func run(_ count: Int, seed: UInt64) throws {
        var random = Numbers(state: seed)
        var deliveries = 0
        for _ in 0..<count {
            let key = Self.keys.randomElement(using: &random) ?? ""
            let file = key + (Self.sizes.randomElement(using: &random) ?? "")
            switch Operation.bag.randomElement(using: &random) ?? .read {
            case .answer: try store(file, of: newResponse(key))
            case .derive:
                if let row = try current(key) { try store(file, of: row) }
            case .validate:
                guard var row = try current(key) else { continue }
                row.received = Date().timeIntervalSince1970
                row.isInvalidated = false
                _ = try files.freshen(row, from: row.variant)
            case .read: if try read(file) { deliveries += 1 }
            case .removeFile: try files.remove(files.fileName(forKey: file))
            case .removeResponse: try files.removeResponse(key: key, variant: Data())
            case .invalidate: _ = try files.invalidateResponses { name, _ in name == key }
            case .storeByProgram: try write("the program", as: file, .program)
            case .storeOfUnknownOrigin: try write("somebody", as: file, nil)
            case .clean: _ = try files.removeExpired()
            }
        }
        print(count, "operations,", deliveries, "deliveries of current files")
    }

    /// Checks the folder when no process changes it.
    func check() throws {
        var links = 0
        for file in Self.keys.flatMap({ key in Self.sizes.map { key + $0 } }) {
            _ = try read(file)
            let origin = try files.origin(of: files.fileName(forKey: file))
            guard case .response(_, _, let generation, _)? = origin?.derivation else { continue }
            guard origin?.response?.generation == generation else {
                throw Violation(description: "\(file) is of a former generation")
            }
            links += 1
        }
        for (row, names) in try files.allResponses() where names.isEmpty {
            throw Violation(description: "there is no file of the response \(row.generation)")
        }
        let sum = try files.entries().reduce(0) { $0 + $1.size }
        guard try files.totalSize() == UInt(sum) else {
            throw Violation(description: "the total is wrong")
        }
        print(links, "files of current responses")
    }

    // MARK: Responses

    /// Makes a just received response with new bytes.
    private func newResponse(_ key: String) -> ResponseRow {
        let now = Date().timeIntervalSince1970
        return ResponseRow(
            key: key, variant: Data(), vary: "", url: "https://host/", status: 200,
            fields: Data("[]".utf8), requested: now, received: now,
            generation: .random(in: 1...(.max)), bodyLength: nil, bodyChecksum: nil,
            freshUntil: now + 600, isInvalidated: false, used: now)
    }

    private func current(_ key: String) throws -> ResponseRow? {
        try files.responses(forKey: key).first
    }

    // MARK: Files

    private func store(_ file: String, of row: ResponseRow) throws {
        try files.store(
            ResponsePut(row: row), with: Self.bytes(file, by: "\(row.generation)"),
            isOriginal: false, forKey: file, expiration: .never)
    }

    private func write(_ maker: String, as file: String, _ derivation: Derivation?) throws {
        let new = try files.newFile(
            files.fileName(forKey: file), forKey: file, expiration: .never, overwriting: true,
            derivation: derivation
        ) { Self.bytes(file, by: maker) }
        if let new { try files.store(new) }
    }

    /// Reads a file as a request does: its origin first, then its bytes.
    /// - Returns: Whether the file is current.
    private func read(_ file: String) throws -> Bool {
        let name = files.fileName(forKey: file)
        let said = try files.origin(of: name)?.maker
        let bytes = try files.value(of: name, forKey: file, extending: .none) { $0 }
        guard let bytes, let said else { return false }
        if bytes == Self.bytes(file, by: said) { return true }
        // Another process may have replaced it in between. A replaced generation never becomes
        // current again.
        guard try files.origin(of: name)?.maker != said || !said.isGeneration else {
            throw Violation(description: "\(file) is said to be made by \(said)")
        }
        return false
    }

    private static func bytes(_ file: String, by maker: String) -> Data {
        Data(String(repeating: "\(file), made by \(maker). ", count: 40).utf8)
    }
}

extension FileOrigin {
    /// The origin that the file's bytes should name, if it is known and current.
    fileprivate var maker: String? {
        switch derivation {
        case .program: "the program"
        case .response(_, _, let generation, _):
            response?.generation == generation ? "\(generation)" : nil
        case nil: nil
        }
    }
}

extension String {
    fileprivate var isGeneration: Bool { Int64(self) != nil }
}

/// A reproducible random number generator (SplitMix64).
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
