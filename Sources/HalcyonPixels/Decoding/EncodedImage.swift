import DirectCodecs
import Foundation
import Vips

/// The bytes of an image file with its header read and checked: what an image is decoded from.
struct EncodedImage: Sendable {
    let data: Data
    let header: ImageHeader
    let decoder: any ImageDecoder
    let limits: DecodingLimits
    /// Of SVG files.
    let drawing: SVGCost?
    /// Of PNG files.
    let chunks: PNGStructure?

    /// Recognises `data` by its first bytes and reads its header.
    ///
    /// Cheap beside decoding, but it may touch the whole data (WebP, GIF, AVIF).
    /// - Parameter decoder: Reads `data`; by default the first of all decoders that can.
    /// - Throws: `ImageCodingError`: empty or unknown data, a format that cannot be read, a damaged
    ///   header, or more pixels than `limits` allow.
    init(
        _ data: Data, limits: DecodingLimits = .default, decoder: (any ImageDecoder)? = nil
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
        self.decoder = try decoder ?? ImageDecoders.decoder(for: format, reading: data)
        header = try self.decoder.header(of: data, format: format)
        self.data = data
        self.limits = limits
        try check(frames: 1)
    }

    /// Decodes all frames, on the calling thread.
    ///
    /// - Throws: `ImageCodingError`: also when all frames together have more pixels than the limit.
    func decodeAllFrames() throws -> [Bitmap] {
        try check(frames: header.frameCount)
        return try withinLimits(taking: memory(frames: header.frameCount)) {
            try decoder.decodeAllFrames(data, header: header)
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
}
