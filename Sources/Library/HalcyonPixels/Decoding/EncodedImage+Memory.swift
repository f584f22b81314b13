import DirectCodecs

/// Estimates of what decoding takes, made from the header. The factors for codecs of other people were
/// measured with pictures of 12 megapixels; they are those of the worst kind of each format.
extension EncodedImage {
    /// Bytes of memory at the height of decoding a frame: its pixels and what the codec keeps beside them.
    func memory() -> Int {
        memory(.exactly(Reduction(size: header.size, quality: .best)), frames: 1)
    }

    /// Bytes of memory that decoding all frames takes, which are held in the end.
    var memoryOfAllFrames: Int { memory(.atLeast(nil), frames: header.frameCount) }

    /// Bytes of memory that decoding takes when other steps follow: decoders that deliver rows as they are
    /// asked for do not hold the picture.
    ///
    /// - Parameter reduced: The size that the first of the steps is to give, if it is smaller.
    func memory(passedOnAt reduced: PixelSize?) -> Int {
        let size: DecodedSize =
            reduced.map { .exactly(Reduction(size: $0, quality: .best)) } ?? .atLeast(nil)
        let isAnimated = header.timing != nil
        switch opened {
        case is OpenedByVips where !isAnimated || header.format == .GIF:
            return memory(size, frames: 0)
        case is OpenedByWorker where !isAnimated:
            return memory(size, frames: 1)
        case is OpenedJPEG:
            return memory(size, frames: opened.isLeftToVips(size) ? 0 : 1)
        case is OpenedBMP where header.format == .BMP,
            is OpenedWebP where !isAnimated:
            return memory(size, frames: 1)
        case let picture as OpenedPNG where picture.isReduced:
            return memory(size, frames: 1)
        case let frames as OpenedFrames<AVIFFrameReader> where frames.isReduced:
            return memory(size, frames: 1)
        default:
            return memory()
        }
    }

    /// Below this many pixels no decoder takes much.
    var isWorthCounting: Bool {
        storedCount > 100_000 || header.format == .SVG
    }

    /// Pixels that are decoded of a frame, also where only a part of them is shown.
    private var storedCount: Int { (header.storedSize ?? header.size).pixelCount }

    /// - Parameters:
    ///   - size: The size at which the decoder is to deliver a frame.
    ///   - frames: How many frames are held in the end.
    private func memory(_ size: DecodedSize, frames: Int) -> Int {
        let pixels = size.least(header.size).pixelCount.clampedTimes(frames)
            .clampedTimes(header.bytesPerPixel)
        return pixels.clampedPlus(codecMemory(size)).clampedPlus(turnedMemory(size))
    }

    /// libvips turns a picture that it has whole, in the size in which the codec delivers it.
    private func turnedMemory(_ size: DecodedSize) -> Int {
        guard opened.orientation > 1, opened.isLeftToVips(size) else { return 0 }
        var count = header.size.pixelCount
        if header.format == .JPEG || header.format == .WebP {
            // Twice the size, of which there may be no step that is nearer than twice of that.
            count = min(count, size.least(header.size).pixelCount.clampedTimes(16))
        }
        return count.clampedTimes(header.bytesPerPixel)
    }

    private func codecMemory(_ size: DecodedSize) -> Int {
        let count = storedCount
        let delivered = size.least(header.size)
        let isReduced = delivered != header.size
        switch header.format {
        case .JPEG: return jpegMemory
        case .PNG: return pngMemory
        case .GIF:
            // The canvas, what it was before a frame, indices; libvips has it twice more.
            return count.clampedTimes(opened is OpenedGIF ? 9 : 12)
        case .WebP:
            // Two canvases and a frame, or the samples of a lossless picture or of one with alpha.
            if header.timing != nil { return count.clampedTimes(12) }
            guard let picture = opened as? OpenedWebP, !picture.isLeftToVips(size) else {
                return count.clampedTimes(9)
            }
            let hasSamples = header.hasAlpha || picture.isLossless
            return hasSamples ? count.clampedTimes(isReduced ? 8 : 5) : count / 4
        case .AVIF, .HEIC:
            // The whole picture is there as pixels before it is cropped.
            let cropped = count == header.size.pixelCount ? 0 : header.bytesPerPixel
            // Converted by numbers, there are the pixels themselves and those that they become.
            let isHeld =
                (opened as? OpenedByVips)?.isHeldWhole ?? (opened as? OpenedByWorker)?.isHeldWhole
            let held = isHeld == true ? 2 * header.bytesPerPixel : 0
            return count.clampedTimes((header.depth == .sixteen ? 20 : 10) + cropped + held)
        case .JPEGXL:
            if header.hasAlpha { return count.clampedTimes(36) }
            return count.clampedTimes(header.depth == .sixteen ? 16 : 7)
        case .SVG: return drawing?.memory(drawnAt: delivered) ?? 0
        case .PDF: return delivered.pixelCount.clampedTimes(9)
        case .ICO: return count.clampedTimes(9)
        case .TIFF: return count.clampedPlus(TIFFHeader(data)?.heldBytes ?? 0)
        case .BMP, .unknown: return 0
        }
    }

    private var jpegMemory: Int {
        guard let frame = JPEGFrame(data), frame.keepsCoefficients else { return 0 }
        // Two bytes for each coefficient, in whole blocks.
        return Int(2 * frame.samplesPerPixel * Double(frame.size.pixelCount) * 1.02)
    }

    private var pngMemory: Int {
        guard let chunks else { return 0 }
        let stream = chunks.streamBytes
        if opened is OpenedAPNG {
            // The canvas, what was in the area of a frame, and a frame.
            return header.size.pixelCount.clampedTimes(3 * header.bytesPerPixel)
                .clampedPlus(stream).clampedPlus(data.count)
        }
        if opened is OpenedPNG { return stream.clampedPlus(data.count) }
        if (opened as? OpenedByVips)?.isHeldWhole == true {
            // Twice while it is converted, and all rows if they are interlaced.
            return header.size.pixelCount.clampedTimes(3 * header.bytesPerPixel)
                .clampedPlus(stream)
        }
        guard chunks.isInterlaced else { return stream / 16 }
        // libvips has all rows in memory, with samples of whole bytes and colours in place of a palette's.
        let isOpaque = !header.hasAlpha || chunks.samples.isMultiple(of: 2)
        let channels = (chunks.isIndexed ? 3 : chunks.samples) + (isOpaque ? 0 : 1)
        return header.size.pixelCount
            .clampedTimes(channels * header.depth.rawValue / 8).clampedPlus(stream)
    }
}
