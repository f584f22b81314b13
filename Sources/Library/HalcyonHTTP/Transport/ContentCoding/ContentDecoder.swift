/// Unpacks a body piece by piece, with little memory whatever comes.
///
/// Used by one thread at a time.
final class ContentDecoder {
    enum Failure: Error, Equatable {
        /// The bytes are not what the coding makes.
        case damaged
        /// They end too early.
        case cutShort
        /// A coding between two others has made more than the limit.
        case tooLarge
        /// There are more codings than anybody needs.
        case tooManyCodings
        case noMemory
    }

    typealias Taker = (UnsafeRawBufferPointer) throws -> Void

    /// More codings than these are refused, as by libcurl.
    static let codingLimit = 5

    /// The last coding that was applied comes first.
    private let stages: [any DecodingStage]
    /// The bytes that each has made so far.
    private var counts: [Int]
    private let limit: Int?

    /// - Parameters:
    ///   - codings: In the order in which they were applied.
    ///   - limit: Bytes of what is packed still; the limit of the whole is the taker's business.
    /// - Throws: `Failure`.
    init(_ codings: [ContentCoding], limit: Int?) throws {
        guard codings.count <= Self.codingLimit else { throw Failure.tooManyCodings }
        stages = try codings.reversed().map { coding in
            switch coding {
            case .gzip: try ZlibStage(.gzip)
            case .deflate: try ZlibStage(.deflate)
            case .brotli: try BrotliStage()
            case .zstandard: try ZstandardStage()
            }
        }
        counts = Array(repeating: 0, count: stages.count)
        self.limit = limit
    }

    /// Hands what `bytes` are made of to `take`.
    /// - Throws: `Failure`, or what `take` throws.
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: Taker) throws {
        try decode(bytes, stage: 0, take)
    }

    /// Checks that the body has come to its end.
    /// - Throws: `Failure`.
    func finish() throws {
        // Of a body without any bytes nothing is missing.
        guard stages.first?.hasBegun == true else { return }
        guard stages.allSatisfy(\.isComplete) else { throw Failure.cutShort }
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, stage: Int, _ take: Taker) throws {
        guard stage < stages.count else { return try take(bytes) }
        try stages[stage].decode(bytes) { piece in
            counts[stage] += piece.count
            if let limit, stage + 1 < stages.count, counts[stage] > limit { throw Failure.tooLarge }
            try decode(piece, stage: stage + 1, take)
        }
    }
}

/// Undoes one coding.
protocol DecodingStage: AnyObject {
    /// Whether any bytes have come.
    var hasBegun: Bool { get }
    /// Whether the bytes so far are whole.
    var isComplete: Bool { get }

    func decode(_ bytes: UnsafeRawBufferPointer, _ take: ContentDecoder.Taker) throws
}

/// Where the bytes of a stage are made.
final class DecodingBuffer {
    static let size = 64 * 1024

    let start = UnsafeMutablePointer<UInt8>.allocate(capacity: size)

    deinit {
        start.deallocate()
    }

    /// The first bytes.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: count)
    }
}
