import CHTTP

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
    private var hasBegun = false
    private let limit: Int?

    /// - Parameters:
    ///   - codings: In the order in which they were applied.
    ///   - limit: Bytes of what is packed still; the limit of the whole is the taker's business.
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
        if !bytes.isEmpty { hasBegun = true }
        try decode(bytes, stage: 0, take)
    }

    /// Checks that the body has come to its end.
    func finish() throws {
        // Of a body without any bytes nothing is missing.
        guard hasBegun else { return }
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

protocol DecodingStage: AnyObject {
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

    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: count)
    }
}

/// A way in which a body may be packed (RFC 9110, section 8.4.1).
package enum ContentCoding: String, CaseIterable, Sendable {
    case gzip, deflate
    case brotli = "br"
    case zstandard = "zstd"

    /// The value of `Accept-Encoding`, in the order of preference.
    static let offered = allCases.map(\.rawValue).joined(separator: ", ")

    /// `nil` for a name that is none of these; `name` is in lower case.
    init?(name: String) {
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}

package struct ContentCodings: Hashable, Sendable {
    /// Codings to be undone, in the order in which they were applied.
    package private(set) var known: [ContentCoding] = []
    /// Other names, in lower case. Servers write all kinds of things there, such as `utf-8`, `binary` or
    /// `aws-chunked`, and send the bytes as they are; so browsers and `URLSession` pass them over, too.
    package private(set) var unknown: [String] = []

    init(_ members: [String]) {
        for name in members.map(\.lowercasedASCII) {
            if let coding = ContentCoding(name: name) {
                known.append(coding)
            } else if name != "identity", name != "none" {
                unknown.append(name)
            }
        }
    }

    package var isEmpty: Bool { known.isEmpty && unknown.isEmpty }
}

/// gzip (RFC 1952) and deflate (RFC 9110, section 8.4.1.2), by zlib.
///
/// Members of gzip may follow each other. What is behind the last one and is none itself is passed over,
/// as browsers do.
final class ZlibStage: DecodingStage {
    enum Format {
        case gzip, deflate
    }

    private enum Phase {
        /// Nothing is known yet of a deflated body, which many servers send without the zlib format.
        case sniffing([UInt8])
        case decoding
        /// A member has ended; another one may follow.
        case betweenMembers
        /// Bytes from here on belong to nothing.
        case ended
    }

    private let format: Format
    // zlib wants it to stay in place.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let buffer = DecodingBuffer()
    private var phase: Phase
    private var isInitialized = false
    private var members = 0

    init(_ format: Format) throws {
        self.format = format
        stream.initialize(to: z_stream())
        phase = format == .gzip ? .decoding : .sniffing([])
        // 16 more than the size of the window stands for gzip.
        if format == .gzip { try start(windowBits: 16 + MAX_WBITS) }
    }

    deinit {
        if isInitialized { inflateEnd(stream) }
        stream.deallocate()
    }

    var isComplete: Bool {
        switch phase {
        case .sniffing: false
        // Behind a member there may be anything, also what looks like the beginning of one.
        case .decoding: members > 0 && stream.pointee.total_out == 0
        case .betweenMembers, .ended: true
        }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, _ take: ContentDecoder.Taker) throws {
        var rest = bytes
        while !rest.isEmpty {
            switch phase {
            case .ended: return
            case .betweenMembers:
                guard inflateReset(stream) == Z_OK else { throw ContentDecoder.Failure.damaged }
                phase = .decoding
            case .sniffing(let seen):
                let head = seen + rest.prefix(2 - seen.count)
                guard head.count == 2 else {
                    phase = .sniffing(head)
                    return
                }
                try start(windowBits: Self.hasZlibFormat(head) ? MAX_WBITS : -MAX_WBITS)
                phase = .decoding
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2 - seen.count))
                try head.withUnsafeBytes { _ = try inflate($0, take) }
            case .decoding:
                rest = UnsafeRawBufferPointer(rebasing: rest.suffix(try inflate(rest, take)))
            }
        }
    }

    /// - Returns: How many bytes are left, when a member has ended.
    private func inflate(
        _ bytes: UnsafeRawBufferPointer, _ take: ContentDecoder.Taker
    ) throws -> Int {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        // Pieces come from buffers of some 64 KiB.
        stream.pointee.avail_in = uInt(clamping: bytes.count)
        while true {
            stream.pointee.next_out = buffer.start
            stream.pointee.avail_out = uInt(DecodingBuffer.size)
            let status = CHTTP.inflate(stream, Z_NO_FLUSH)
            let count = DecodingBuffer.size - Int(stream.pointee.avail_out)
            if count > 0 { try take(buffer.bytes(count)) }
            switch status {
            case Z_OK where stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0: continue
            case Z_OK, Z_BUF_ERROR: return 0
            case Z_STREAM_END:
                members += 1
                phase = format == .gzip ? .betweenMembers : .ended
                return Int(stream.pointee.avail_in)
            case Z_MEM_ERROR: throw ContentDecoder.Failure.noMemory
            default:
                guard members > 0, stream.pointee.total_out == 0 else {
                    throw ContentDecoder.Failure.damaged
                }
                phase = .ended
                return 0
            }
        }
    }

    private func start(windowBits: Int32) throws {
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw ContentDecoder.Failure.noMemory
        }
        isInitialized = true
    }

    /// Whether the first two bytes are those of RFC 1950, section 2.2.
    private static func hasZlibFormat(_ head: [UInt8]) -> Bool {
        head[0] & 0x0F == 8 && head[0] >> 4 <= 7 && (Int(head[0]) << 8 | Int(head[1])) % 31 == 0
    }
}

/// Brotli (RFC 7932). Its window is never larger than 16 MiB. What is behind its end is passed over.
final class BrotliStage: DecodingStage {
    private let state: OpaquePointer
    private let buffer = DecodingBuffer()
    private(set) var isComplete = false

    init() throws {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw ContentDecoder.Failure.noMemory
        }
        self.state = state
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
    }

    func decode(_ bytes: UnsafeRawBufferPointer, _ take: ContentDecoder.Taker) throws {
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        var count = bytes.count
        while !isComplete {
            var room = DecodingBuffer.size
            var end: UnsafeMutablePointer<UInt8>? = buffer.start
            let result = BrotliDecoderDecompressStream(state, &count, &next, &room, &end, nil)
            if room < DecodingBuffer.size {
                try take(buffer.bytes(DecodingBuffer.size - room))
            }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: isComplete = true
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
            default: throw ContentDecoder.Failure.damaged
            }
        }
    }
}

/// Zstandard (RFC 8878), with windows of at most 8 MiB (RFC 9659). Frames may follow each other; what is
/// behind the last one and is none itself is passed over.
final class ZstandardStage: DecodingStage {
    private let stream: OpaquePointer
    private let buffer = DecodingBuffer()
    private var frames = 0
    /// Whether the frame that was begun last has brought anything.
    private var isFrameEmpty = true
    private var isInFrame = false
    private var hasEnded = false

    init() throws {
        guard let stream = ZSTD_createDStream() else { throw ContentDecoder.Failure.noMemory }
        self.stream = stream
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 23)
    }

    deinit {
        ZSTD_freeDStream(stream)
    }

    /// Behind a frame there may be anything, also what looks like the beginning of one.
    private var isBehindFrames: Bool { frames > 0 && isFrameEmpty }

    var isComplete: Bool { hasEnded || isBehindFrames || frames > 0 && !isInFrame }

    func decode(_ bytes: UnsafeRawBufferPointer, _ take: ContentDecoder.Taker) throws {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        while !hasEnded {
            // Between frames nothing is left to be handed out.
            if !isInFrame, input.pos == input.size { return }
            var output = ZSTD_outBuffer(dst: buffer.start, size: DecodingBuffer.size, pos: 0)
            let rest = ZSTD_decompressStream(stream, &output, &input)
            guard ZSTD_isError(rest) == 0 else {
                guard isBehindFrames else { throw ContentDecoder.Failure.damaged }
                hasEnded = true
                return
            }
            if output.pos > 0 {
                isFrameEmpty = false
                try take(buffer.bytes(output.pos))
            }
            isInFrame = rest > 0
            if !isInFrame {
                frames += 1
                isFrameEmpty = true
            } else if input.pos == input.size, output.pos < output.size {
                return
            }
        }
    }
}
