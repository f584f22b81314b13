import CHTTP

/// Brotli (RFC 7932). Its window is never larger than 16 MiB. What is behind its end is passed over.
final class BrotliStage: DecodingStage {
    private let state: OpaquePointer
    private let buffer = DecodingBuffer()
    private(set) var hasBegun = false
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
        if !bytes.isEmpty { hasBegun = true }
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
