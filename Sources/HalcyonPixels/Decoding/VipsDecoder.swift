import Foundation
import Vips

/// Reads JPEG, PNG, GIF, WebP, AVIF, HEIC, JPEG XL, TIFF, SVG and PDF with libvips, each with the one
/// loader that its bytes call for.
struct VipsDecoder: ImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool {
        VipsLoader(format).map { Vips.supports(operation: $0.nickname) } ?? false
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        try refuseEarly(data, format)
        let image = try opened(data, format)
        if [.AVIF, .HEIC].contains(format), !image.hasAlpha, HEIFProperties(data).hasAlpha {
            throw ImageCodingError.unsupported(format, reason: "its opacity cannot be read")
        }
        let stored = PixelSize(width: image.width, height: image.pageHeight)
        var header = ImageHeader(
            format: format, size: stored.turned(by: orientation(of: image, format)),
            hasAlpha: image.hasAlpha, depth: image.isDeep ? .sixteen : .eight)
        if format == .GIF || format == .WebP {
            header.frameCount = image.pageCount
            header.timing = timing(of: image)
        }
        return header
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        try checkGIF(data, header, upTo: frame)
        let loader = try loader(header.format)
        let image = try reporting(header.format) { () throws(VipsError) in
            var image = try open(
                data, with: loader, header: header, frame: frame, leastSize: leastSize)
            if [.AVIF, .HEIC].contains(header.format), HEIFProperties(data).isDisplayP3 {
                image = try image.withDisplayP3Profile()
            }
            let converted = try image.decodedToSRGB(alpha: header.hasAlpha)
            guard orientation(of: image, header.format) > 1 else {
                // A field that is not obeyed must not be obeyed further on.
                return try converted.settingMetadata([], removing: ["orientation"])
            }
            // Turning reads the rows out of order.
            return try converted.copiedToMemory().orientationApplied()
        }
        return .pipeline(image)
    }

    /// Of JPEG the best quality needs a larger decode than the smallest that will do. What has opacity and is
    /// much larger is averaged first.
    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    {
        if header.hasAlpha, [.PNG, .TIFF].contains(header.format),
            VipsImage.isReducedByArea(header.size, to: reduction.size)
        {
            let image = try decode(data, header: header, frame: frame, leastSize: nil).pipeline()
            return .pipeline(
                try reporting(header.format) { try image.reducedByArea(to: reduction.size) })
        }
        guard header.format == .JPEG, reduction.quality == .best, reduction.size != header.size
        else { return nil }
        let least = PixelSize(
            width: 2 * reduction.size.width, height: 2 * reduction.size.height)
        let image = try decode(data, header: header, frame: frame, leastSize: least).pipeline()
        return .pipeline(
            try reporting(.JPEG) { () throws(VipsError) in
                try image.resized(to: reduction.size.width, height: reduction.size.height)
            })
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        guard header.timing != nil else {
            let pixels = try decode(data, header: header, frame: 0, leastSize: nil)
            return [try reporting(header.format) { try Bitmap(rendering: pixels.pipeline()) }]
        }
        if header.format == .WebP {
            // Each frame is turned by itself.
            var reader = try frameReader(data, header: header)
            return try (0..<header.frameCount).map { try reader.frame($0) }
        }
        try checkGIF(data, header, upTo: header.frameCount - 1)
        let strip = try reporting(header.format) {
            let image = try loader(header.format).open(
                data, VipsLoader.Request(allFrames: true))
            return try Bitmap(rendering: image.decodedToSRGB(alpha: header.hasAlpha))
        }
        guard strip.size.width == header.size.width,
            strip.size.height == header.size.height * header.frameCount
        else {
            throw ImageCodingError.corrupt(header.format, reason: "frames are missing")
        }
        return (0..<header.frameCount).map { index in
            Bitmap(
                size: header.size, channels: strip.channels, depth: strip.depth,
                storage: strip.storage,
                offset: index * header.size.height * strip.bytesPerRow)
        }
    }
}

extension VipsDecoder {
    private func loader(_ format: ImageFormat) throws(ImageCodingError) -> VipsLoader {
        guard let loader = VipsLoader(format) else {
            throw .unsupported(format, reason: "no decoder for it is installed")
        }
        return loader
    }

    func opened(_ data: Data, _ format: ImageFormat) throws -> VipsImage {
        let loader = try loader(format)
        return try reporting(format) { try loader.open(data) }
    }

    /// Runs `body`; a failure of libvips in it becomes one of data of `format`.
    private func reporting<Result, Failure: Error>(
        _ format: ImageFormat, _ body: () throws(Failure) -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as VipsError {
            throw error.codingError(format)
        }
    }

    /// Throws for files whose kind can be told by a few bytes, and that libvips would refuse in words of
    /// its own, or take.
    private func refuseEarly(_ data: Data, _ format: ImageFormat) throws {
        switch format {
        case .JPEG:
            if let refusal = JPEGFrameHeader(data)?.refusal {
                throw ImageCodingError.unsupported(.JPEG, reason: refusal)
            }
        case .TIFF:
            if let refusal = TIFFHeader(data)?.refusal {
                throw ImageCodingError.unsupported(.TIFF, reason: refusal)
            }
        case .GIF:
            let structure = GIFStructure(data)
            guard structure.isComplete else {
                throw ImageCodingError.corrupt(.GIF, reason: "its blocks do not reach the trailer")
            }
            try structure.checkFrameCount()
        case .AVIF, .HEIC:
            let longest = HEIFProperties.longestReadableSide
            if let size = HEIFProperties(data).largestSize, size.longestSide > longest {
                throw ImageCodingError.tooManyPixels(size, limit: longest * longest)
            }
            let brands = data.withUnsafeBytes { ISOMediaBrands($0)?.brands }
            if let brand = brands?.first, HEIFProperties.sequenceBrands.contains(brand) {
                throw ImageCodingError.unsupported(format, reason: "it is a sequence of pictures")
            }
        default:
            break
        }
    }

    private func checkGIF(_ data: Data, _ header: ImageHeader, upTo frame: Int) throws {
        guard header.format == .GIF else { return }
        if let index = GIFStructure(data).firstDamagedFrame(upTo: frame, in: data) {
            throw ImageCodingError.corrupt(.GIF, reason: "the pixels of frame \(index) are damaged")
        }
    }

    /// The EXIF orientation that is still to be applied, 1…8.
    func orientation(of image: VipsImage, _ format: ImageFormat) -> Int {
        switch format {
        // The codec has turned the pixels already, by the format's own property.
        case .AVIF, .HEIC, .JPEGXL: 1
        default: image.int("orientation").flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
        }
    }

    /// The times of an animation, `nil` for a single frame.
    private func timing(of image: VipsImage) -> AnimationTiming? {
        let count = image.pageCount
        guard count > 1 else { return nil }
        let delays = image.ints("delay") ?? []
        return AnimationTiming(
            durations: (0..<count).map { index in
                AnimationTiming.clamped(
                    index < delays.count ? TimeInterval(delays[index]) / 1000 : 0)
            },
            loopCount: max(0, image.int("loop") ?? 0))
    }
}
