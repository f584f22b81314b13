import CHTTP

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
    private(set) var hasBegun = false

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
        if !bytes.isEmpty { hasBegun = true }
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
