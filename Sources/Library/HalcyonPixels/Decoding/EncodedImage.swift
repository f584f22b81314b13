import DirectCodecs
import Foundation
import Vips

/// The bytes of an image file with its header read and checked: what an image is decoded from.
struct EncodedImage: Sendable {
    /// The bytes that are decoded: those of the file, for SVG the rewritten drawing, and for a JPEG file
    /// without an end those with one.
    let data: Data
    /// The opened file, which answers all requests about it.
    private(set) var opened: any OpenedImage
    let limits: DecodingLimits
    let drawing: SVGDocument?
    let chunks: PNGStructure?

    /// Recognises `data` by its first bytes and reads its header.
    ///
    /// Cheap beside decoding, but it may touch the whole data (WebP, GIF, AVIF).
    /// - Parameters:
    ///   - coding: Which formats are read by their own codecs.
    ///   - decoder: Reads `data`; by default the first of all decoders that can.
    ///   - forPixels: Whether the pixels of the first frame are wanted in any case, in full size.
    /// - Throws: `ImageCodingError`: empty or unknown data, a format that cannot be read, a damaged
    ///   header, or more pixels than `limits` allow.
    init(
        _ data: Data, limits: DecodingLimits = .default, coding: DirectCoding = .current,
        decoder: ImageDecoder? = nil, forPixels: Bool = false
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
        drawing = format == .SVG ? try SVGDocument(data, limits: limits) : nil
        let ended = format == .JPEG ? JPEGEnding.added(to: data) : nil
        let data = ended ?? drawing?.data ?? data
        let atOnce = forPixels ? DecodingAtOnce(of: format, data, drawing, limits) : nil
        opened = try DecodingWatch.run(limits.maximumDuration) {
            try decoder?.open(data, format, coding)
                ?? ImageDecoders.open(data, format: format, coding: coding, atOnce: atOnce)
        }
        if let ended { opened = UnendedJPEG(ended, opened) }
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
        return try withinLimits(taking: memoryOfAllFrames) {
            try checkScans()
            guard header.timing != nil else { return [try decode(frame: 0, atLeast: nil).bitmap()] }
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

extension EncodedImage {
    /// Pixels times scans of a progressive JPEG file that are still decoded: some three seconds of work. Those
    /// of large photographs come to a third of it.
    private static let mostScanWork = 5_000_000_000

    /// Throws for a progressive JPEG file of far more scans than its size lets expect.
    func checkScans() throws(ImageCodingError) {
        let count = header.size.pixelCount
        guard header.format == .JPEG, count > Self.mostScanWork / JPEGSegments.maximumScanCount
        else {
            return
        }
        let scans = JPEGFrame.scanCount(of: data)
        guard count.clampedTimes(scans) > Self.mostScanWork else { return }
        throw .tooComplex(
            .JPEG,
            reason: "\(scans) scans of \(count) pixels would take too long to decode; "
                + "the limit is \(Self.mostScanWork / count) scans")
    }
}
