import DirectCodecs
import Foundation
import Vips

/// The bytes of an image file with its header read and checked: what an image is decoded from.
struct EncodedImage: Sendable {
    let data: Data
    /// What answers everything about the file.
    private(set) var opened: any OpenedImage
    let limits: DecodingLimits
    /// Of SVG files.
    let drawing: SVGCost?
    /// Of PNG files.
    let chunks: PNGStructure?

    /// Recognises `data` by its first bytes and reads its header.
    ///
    /// Cheap beside decoding, but it may touch the whole data (WebP, GIF, AVIF).
    /// - Parameters:
    ///   - coding: Which formats are read by their own codecs.
    ///   - decoder: Reads `data`; by default the first of all decoders that can.
    /// - Throws: `ImageCodingError`: empty or unknown data, a format that cannot be read, a damaged
    ///   header, or more pixels than `limits` allow.
    init(
        _ data: Data, limits: DecodingLimits = .default, coding: DirectCoding = .current,
        decoder: (any ImageDecoder)? = nil
    ) throws {
        guard !data.isEmpty else { throw ImageCodingError.emptyData }
        // Before the first codec takes memory; most of them have nothing to do with libvips.
        Vips.fixMallocThresholds()
        let format = ImageSniffer.format(of: data)
        guard format != .unknown else {
            throw ImageCodingError.unknownFormat(description: ImageSniffer.describe(data))
        }
        if format == .PDF && !limits.allowsPDF {
            throw ImageCodingError.unsupported(.PDF, reason: "reading PDF was not allowed")
        }
        chunks = format == .PNG ? try PNGStructure.check(data) : nil
        drawing = format == .SVG ? SVGCost(data) : nil
        try drawing?.check()
        opened =
            try decoder?.open(data, format: format, coding: coding)
            ?? ImageDecoders.open(data, format: format, coding: coding)
        self.data = data
        self.limits = limits
        try check(frames: 1)
    }

    var header: ImageHeader { opened.header }

    /// The picture that stands for an animation where it does not move; a file without one as it is.
    func still() throws -> EncodedImage {
        guard let opened = try opened.still() else { return self }
        var still = self
        still.opened = opened
        return still
    }

    /// Decodes one frame at any size from `size` up to the full one; without it at the full size.
    func decode(frame: Int, atLeast size: PixelSize?) throws -> DecodedPixels {
        try ImageDecoders.decode(opened, of: data, frame: frame, atLeast: size)
    }

    /// Decodes all frames, on the calling thread.
    ///
    /// - Throws: `ImageCodingError`: also when all frames together have more pixels than the limit.
    func decodeAllFrames() throws -> [Bitmap] {
        try check(frames: header.frameCount)
        return try withinLimits(taking: memory(frames: header.frameCount)) {
            guard header.timing != nil else {
                let pixels = try decode(frame: 0, atLeast: nil)
                if case .bitmap(let bitmap) = pixels { return [bitmap] }
                return [try Bitmap(rendering: pixels.pipeline())]
            }
            var reader = try opened.frameReader()
            return try (0..<header.frameCount).map { try reader.frame($0) }
        }
    }

    private func check(frames: Int) throws(ImageCodingError) {
        guard let limit = limits.maximumPixelCount else { return }
        for size in [header.size, header.storedSize ?? header.size] {
            let (height, tooHigh) = size.height.multipliedReportingOverflow(by: frames)
            let (count, tooMany) = size.width.multipliedReportingOverflow(by: height)
            if tooHigh || tooMany || count > limit {
                throw .tooManyPixels(PixelSize(width: size.width, height: height), limit: limit)
            }
        }
    }

    /// Runs `body`, which decodes and takes `memory` bytes for that, within the limits: when that much may be
    /// taken at all, once there is room beside what else is decoded, and only for so long.
    ///
    /// - Throws: `ImageCodingError`, or what `body` throws.
    func withinLimits<Result>(taking memory: Int, _ body: () throws -> Result) throws -> Result {
        if let limit = limits.maximumMemory, memory > limit {
            throw ImageCodingError.tooMuchMemory(needed: memory, limit: limit)
        }
        return try DecodingBudget.shared.holding(memory) {
            try DecodingWatch.run(limits.maximumDuration, body)
        }
    }
}

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
            return count.clampedTimes(opened is OpenedGIF ? 9 : 12)
        case .WebP:
            // Two canvases and a frame, or the samples of a lossless picture or of one with alpha.
            if header.timing != nil { return count.clampedTimes(12) }
            guard opened is OpenedWebP else { return count.clampedTimes(9) }
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
        if !(opened is OpenedJPEG), header.size != frame.size || isTurned {
            // libvips turns a picture that it has whole.
            memory += Double(size.pixelCount.clampedTimes(header.bytesPerPixel))
        }
        return Int(memory)
    }

    /// Whether a JPEG file is shown otherwise than it is stored.
    private var isTurned: Bool {
        data.withUnsafeBytes { JPEGHeader($0)?.orientation ?? 1 } != 1
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
        return chunks.isInterlaced ? stream.clampedTimes(2) : stream / 16
    }

    /// Below this many pixels no decoder takes much.
    var isWorthCounting: Bool {
        header.size.pixelCount > 100_000 || header.format == .SVG
    }

    /// Bytes of memory that decoding takes when other steps follow: decoders that deliver rows as they are
    /// asked for do not hold the picture.
    ///
    /// - Parameter reduced: The size that the first of the steps is to give, if it is smaller.
    func memory(passedOnAt reduced: PixelSize?) -> Int {
        let isAnimated = header.timing != nil
        switch opened {
        case is OpenedByVips where !isAnimated || header.format == .GIF:
            return memory(decodedAt: reduced, frames: 0)
        case is OpenedJPEG:
            if let reduced { return memory(decodedAt: reduced) }
            let isStreamed = header.size.pixelCount > OpenedJPEG.mostPixelsForChains
            return memory(frames: isStreamed ? 0 : 1)
        case is OpenedPNG, is OpenedBMP,
            is OpenedWebP where !isAnimated:
            return memory(decodedAt: reduced)
        case let frames as OpenedFrames<AVIFFrameReader> where frames.isReduced:
            return memory(decodedAt: reduced)
        default:
            return memory()
        }
    }
}

extension EncodedImage {
    /// Pixels times scans of a progressive JPEG file that are still decoded: some three seconds of work. Those
    /// of large photographs come to a third of it.
    private static let mostScanWork = 5_000_000_000

    /// Throws for a file that makes far more work than its size lets expect, although it is within the other
    /// limits.
    ///
    /// - Parameter size: The size at which it is wanted, if it is smaller than the full one.
    /// - Throws: `ImageCodingError`.
    func checkWork(reducedTo size: PixelSize?) throws(ImageCodingError) {
        let count = header.size.pixelCount
        switch header.format {
        case .JPEG where count > Self.mostScanWork / JPEGScanCounter.mostScans:
            let scans = JPEGFrameHeader.scanCount(of: data)
            guard count.clampedTimes(scans) > Self.mostScanWork else { return }
            throw .unsupported(
                .JPEG,
                reason: "\(scans) scans of \(count) pixels would take too long to decode; "
                    + "the limit is \(Self.mostScanWork / count) scans")
        case .SVG:
            guard let drawing, let limit = limits.maximumDuration else { return }
            // An estimate may be wrong by some factor, and nothing stops the drawing of a tile.
            let (size, most) = (size ?? header.size, limit / 6)
            let isSlow =
                drawing.duration(drawnAt: size) > most
                || drawing.longestPainting(drawnAt: size) > most
                    && SVGTrial(data, of: header.size).takesLonger(than: limit, drawnAt: size)
            if isSlow { throw .tooSlow(limit: limit) }
        default:
            return
        }
    }
}
