import DirectCodecs
import Foundation

/// Estimates of what decoding takes, made from the header. The factors for codecs of other people were
/// measured with pictures of 12 megapixels; they are those of the worst kind of each format.
extension EncodedImage {
    /// Bytes of memory at the height of decoding a frame: its pixels and what the codec keeps beside them.
    ///
    /// - Parameters:
    ///   - size: The size at which the decoder is to deliver it, the full one by default.
    ///   - frames: How many frames are held in the end.
    func memory(decodedAt size: PixelSize? = nil, frames: Int = 1) -> Int {
        let size = size ?? header.size
        let pixels = size.pixelCount.clampedTimes(frames).clampedTimes(header.bytesPerPixel)
        return pixels.clampedPlus(codecMemory(decodedAt: size))
    }

    private func codecMemory(decodedAt size: PixelSize) -> Int {
        let count = header.size.pixelCount
        let isReduced = size != header.size
        switch header.format {
        case .JPEG: return jpegMemory(decodedAt: size)
        case .PNG: return pngMemory
        case .GIF:
            // The canvas, what it was before a frame, indices; libvips has it twice more.
            return count.clampedTimes(decoder is GIFDecoder ? 9 : 12)
        case .WebP:
            // Two canvases and a frame, or the samples of a lossless picture or of one with alpha.
            if header.timing != nil { return count.clampedTimes(12) }
            guard decoder is WebPDecoder else { return count.clampedTimes(9) }
            let isLossless = data.prefix(256).firstRange(of: Data("VP8L".utf8)) != nil
            return header.hasAlpha || isLossless ? count.clampedTimes(isReduced ? 8 : 5) : count / 4
        case .AVIF, .HEIC: return count.clampedTimes(header.depth == .sixteen ? 20 : 10)
        case .JPEGXL:
            if header.hasAlpha { return count.clampedTimes(36) }
            return count.clampedTimes(header.depth == .sixteen ? 16 : 7)
        case .SVG: return drawing?.memory(drawnAt: size) ?? 0
        case .PDF: return size.pixelCount.clampedTimes(9)
        case .ICO: return count.clampedTimes(9)
        case .TIFF: return count
        case .BMP, .unknown: return 0
        }
    }

    private func jpegMemory(decodedAt size: PixelSize) -> Int {
        guard let frame = JPEGFrameHeader(data) else { return 0 }
        let count = Double(frame.size.pixelCount)
        var memory = 0.0
        if frame.isProgressive {
            // Two bytes for each coefficient, in whole blocks.
            memory += 2 * frame.samplesPerPixel * count * 1.02
        }
        if !(decoder is JPEGDecoder), header.size != frame.size || !isPlain(frame) {
            // libvips turns a picture that it has whole.
            memory += Double(size.pixelCount.clampedTimes(header.bytesPerPixel))
        }
        return Int(memory)
    }

    /// Whether a file is shown as it is stored.
    private func isPlain(_ frame: JPEGFrameHeader) -> Bool {
        data.withUnsafeBytes { JPEGHeader($0)?.orientation ?? 1 } == 1
    }

    private var pngMemory: Int {
        guard let chunks else { return 0 }
        let stream = chunks.streamBytes
        if decoder is PNGDecoder { return stream.clampedPlus(data.count) }
        return chunks.isInterlaced ? stream.clampedTimes(2) : stream / 16
    }
}

extension ImageHeader {
    /// Bytes of a decoded pixel.
    var bytesPerPixel: Int { (hasAlpha ? 4 : 3) * depth.rawValue / 8 }
}
