import CHTTP

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
    private(set) var hasBegun = false

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
        if !bytes.isEmpty { hasBegun = true }
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
