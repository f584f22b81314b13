import DirectCodecs

extension Recipe {
    /// Bytes of memory that rendering a frame takes at its height; 0 for what is made of pixels in memory, and
    /// for pictures so small that it does not matter.
    var memory: Int {
        guard case .encoded(let encoded) = start, encoded.isWorthCounting else { return 0 }
        let full = encoded.header.size
        guard !operations.isEmpty else { return encoded.memory() }
        let reduced = operations.first?.reduction(of: full)?.size
        let result = size.pixelCount.clampedTimes(encoded.header.bytesPerPixel + 1)
        return encoded.memory(passedOnAt: reduced).clampedPlus(result)
    }

    /// Bytes of memory that rendering all frames takes.
    var memoryOfAllFrames: Int {
        guard case .encoded(let encoded) = start else { return 0 }
        let count = encoded.header.frameCount
        let decoded = encoded.memory(frames: count)
        guard !operations.isEmpty else { return decoded }
        let result = size.pixelCount.clampedTimes(encoded.header.bytesPerPixel + 1)
        return decoded.clampedPlus(result.clampedTimes(count))
    }
}

extension EncodedImage {
    /// Below this many pixels no decoder takes much.
    fileprivate var isWorthCounting: Bool {
        header.size.pixelCount > 100_000 || header.format == .SVG
    }

    /// Bytes of memory that decoding takes when other steps follow: decoders that deliver rows as they are
    /// asked for do not hold the picture.
    ///
    /// - Parameter reduced: The size that the first of the steps is to give, if it is smaller.
    fileprivate func memory(passedOnAt reduced: PixelSize?) -> Int {
        let isAnimated = header.timing != nil
        switch decoder {
        case is VipsDecoder where !isAnimated || header.format == .GIF:
            return memory(decodedAt: reduced, frames: 0)
        case is JPEGDecoder:
            if let reduced { return memory(decodedAt: reduced) }
            let isStreamed = header.size.pixelCount > JPEGDecoder.mostPixelsForChains
            return memory(frames: isStreamed ? 0 : 1)
        case is PNGDecoder, is BMPDecoder,
            is WebPDecoder where !isAnimated:
            return memory(decodedAt: reduced)
        default:
            return memory()
        }
    }
}
