import CCodecs

/// An AVIF file with its boxes read, and the place in it up to which its frames are decoded.
///
/// libheif, by which libvips reads AVIF, loses the opacity of some files, cannot read sequences, and
/// decodes crops to another size than it tells.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
package final class AVIFFile: @unchecked Sendable {
    /// Width and height of the picture as stored, before it is cropped and turned.
    package let width: Int
    package let height: Int
    package let hasAlpha: Bool
    /// Bits per sample as stored: 8, 10 or 12.
    package let depth: Int
    package let isMonochrome: Bool
    /// Seconds that each frame of a sequence is shown; empty for a still picture.
    package let durations: [Double]
    /// The ICC profile; `nil` when there is none.
    package let profile: [UInt8]?
    /// The numbers of ITU-T H.273 for primaries and transfer characteristics.
    package let primaries: Int
    package let transfer: Int
    /// The way from the stored picture to the shown one.
    package let transforms: Transforms

    package struct Transforms: Equatable, Sendable {
        /// The part that is shown, left, top, width and height; `nil` for all.
        package var crop: Crop?
        /// The turn and the mirroring of that part as an orientation of EXIF, 1…8.
        package var orientation = 1

        package init() {}

        package struct Crop: Equatable, Sendable {
            package let left: Int
            package let top: Int
            package let width: Int
            package let height: Int
        }
    }

    package static let isAvailable = cavif_load() != nil

    /// The version of libavif; `nil` when it is not installed.
    package static var libraryVersion: String? {
        cavif_load()?.pointee.version().map { String(cString: $0) }
    }

    private let avif: cavif_functions
    private let decoder: UnsafeMutablePointer<avifDecoder>
    private let owner: AnyObject

    /// The most frames of a sequence; the table of them is read at once.
    private static let mostFrames: UInt32 = 1 << 16

    /// Reads the boxes of a whole file; decodes nothing.
    ///
    /// - Parameter owner: Keeps `bytes` where they are; kept as long as this.
    package init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) throws(CodecRefusal) {
        let avif = try CodecRefusal.unlessInstalled(cavif_load())
        guard let decoder = avif.decoder_create() else {
            throw CodecRefusal(AVIF_RESULT_OUT_OF_MEMORY)
        }
        do throws(CodecRefusal) {
            try Self.parse(avif, bytes, with: decoder)
            guard let image = decoder.pointee.image, image.pointee.width > 0,
                image.pointee.height > 0
            else { throw .damaged("it has no size") }
            transforms = try Self.transforms(image)
        } catch {
            avif.decoder_destroy(decoder)
            throw error
        }
        self.avif = avif
        self.decoder = decoder
        self.owner = owner
        let image = decoder.pointee.image.pointee
        width = Int(image.width)
        height = Int(image.height)
        // What is decoded is no larger than what the boxes tell, whose pixels have been counted.
        decoder.pointee.imageSizeLimit = min(
            decoder.pointee.imageSizeLimit,
            UInt32(clamping: UInt64(image.width) * UInt64(image.height)))
        depth = Int(image.depth)
        isMonochrome = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400
        hasAlpha = decoder.pointee.alphaPresent != 0
        primaries = Int(image.colorPrimaries)
        transfer = Int(image.transferCharacteristics)
        profile =
            image.icc.size == 0
            ? nil : Array(UnsafeBufferPointer(start: image.icc.data, count: image.icc.size))
        let count = decoder.pointee.imageCount
        durations = count > 1 ? (0..<count).map { Self.duration(avif, of: $0, decoder) } : []
    }

    deinit {
        avif.decoder_destroy(decoder)
    }

    /// Decodes the next frame and writes its pixels as stored: rows from the top without padding, 3
    /// channels or, with opacity, 4, straight, of 8 bits or, when more are stored, 16.
    package func next(into pixels: UnsafeMutableRawPointer) throws(CodecRefusal) {
        try convert(try nextImage(), into: pixels)
    }

    /// Decodes the next frame, whose planes stay where they are until the one after it is decoded.
    func nextImage() throws(CodecRefusal) -> avifImage {
        try skip()
        guard let image = decoder.pointee.image?.pointee, image.width == width,
            image.height == height, image.depth == depth, !hasAlpha || image.alphaPlane != nil
        else { throw .damaged("its headers tell different sizes") }
        return image
    }

    /// Writes the pixels of a frame, or of some rows of one, as ``next(into:)`` does.
    func convert(
        _ image: avifImage, into pixels: UnsafeMutableRawPointer
    ) throws(CodecRefusal) {
        var image = image
        var rgb = avifRGBImage()
        avif.rgb_set_defaults(&rgb, &image)
        rgb.format = hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
        rgb.depth = UInt32(deliveredDepth)
        rgb.pixels = pixels.assumingMemoryBound(to: UInt8.self)
        rgb.rowBytes = UInt32(width * channels * deliveredDepth / 8)
        let result = avif.image_to_rgb(&image, &rgb)
        guard result == AVIF_RESULT_OK else { throw CodecRefusal(result) }
    }

    /// Channels and bits per sample as delivered.
    package var channels: Int { hasAlpha ? 4 : 3 }
    package var deliveredDepth: Int { depth > 8 ? 16 : 8 }

    /// Skips the next frame, decoding it only for the frames that depend on it.
    package func skip() throws(CodecRefusal) {
        let result = avif.decoder_next_image(decoder)
        guard result == AVIF_RESULT_OK else { throw CodecRefusal(result) }
        guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
    }

    private static func parse(
        _ avif: cavif_functions, _ bytes: UnsafeRawBufferPointer,
        with decoder: UnsafeMutablePointer<avifDecoder>
    ) throws(CodecRefusal) {
        decoder.pointee.maxThreads = 1
        decoder.pointee.ignoreExif = 1
        decoder.pointee.ignoreXMP = 1
        decoder.pointee.imageCountLimit = mostFrames
        // What other readers let pass: sizes that opacity shares with the colours, crops at half pixels.
        decoder.pointee.strictFlags = avifStrictFlags(AVIF_STRICT_DISABLED.rawValue)
        var result = avif.decoder_set_memory(
            decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if result == AVIF_RESULT_OK { result = avif.decoder_parse(decoder) }
        guard result == AVIF_RESULT_OK else { throw CodecRefusal(result) }
    }

    private static func duration(
        _ avif: cavif_functions, of frame: Int32, _ decoder: UnsafeMutablePointer<avifDecoder>
    ) -> Double {
        var timing = avifImageTiming()
        let result = avif.decoder_timing(decoder, UInt32(frame), &timing)
        return result == AVIF_RESULT_OK && timing.duration.isFinite ? timing.duration : 0
    }
}

extension AVIFFile {
    private static func transforms(
        _ image: UnsafeMutablePointer<avifImage>
    ) throws(CodecRefusal) -> Transforms {
        let flags = image.pointee.transformFlags
        var transforms = Transforms()
        if flags & AVIF_TRANSFORM_CLAP.rawValue != 0 {
            transforms.crop = try crop(image.pointee)
        }
        // By quarter turns against the clock, which come before the mirroring.
        var orientations = [1, 8, 3, 6]
        if flags & AVIF_TRANSFORM_IMIR.rawValue != 0 {
            orientations = cavif_mirror_axis(image) == 0 ? [4, 5, 2, 7] : [2, 7, 4, 5]
        }
        let isTurned = flags & AVIF_TRANSFORM_IROT.rawValue != 0
        transforms.orientation = orientations[isTurned ? Int(image.pointee.irot.angle & 3) : 0]
        return transforms
    }

    /// The clean aperture (ISO/IEC 14496-12, 12.1.4), its corner rounded down to whole pixels.
    private static func crop(_ image: avifImage) throws(CodecRefusal) -> Transforms.Crop {
        let box = image.clap
        guard
            let left = corner(
                Int(image.width), box.widthN, box.widthD, box.horizOffN, box.horizOffD),
            let top = corner(
                Int(image.height), box.heightN, box.heightD, box.vertOffN, box.vertOffD)
        else { throw .damaged("its crop lies outside of it") }
        return Transforms.Crop(
            left: left, top: top, width: Int(box.widthN / box.widthD),
            height: Int(box.heightN / box.heightD))
    }

    /// Where a crop begins along a side of `length` pixels; its centre is `offset` from that of the side.
    private static func corner(
        _ length: Int, _ sizeN: UInt32, _ sizeD: UInt32, _ offsetN: UInt32, _ offsetD: UInt32
    ) -> Int? {
        // Offsets may be negative, which libavif's types do not show.
        let (offset, divisor) = (Int(Int32(bitPattern: offsetN)), Int(offsetD))
        guard sizeD > 0, divisor > 0, sizeN >= sizeD else { return nil }
        let size = Int(sizeN / sizeD)
        let start = (Double(length - size) / 2 + Double(offset) / Double(divisor)).rounded(.down)
        return start >= 0 && start + Double(size) <= Double(length) ? Int(start) : nil
    }
}

extension CodecRefusal {
    /// The refusal for a result of libavif other than success.
    fileprivate init(_ result: avifResult) {
        self =
            switch result {
            case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_IO_ERROR:
                .damaged("it is cut short")
            case AVIF_RESULT_DECODE_COLOR_FAILED:
                .damaged("its colours cannot be decoded")
            case AVIF_RESULT_DECODE_ALPHA_FAILED:
                .damaged("its opacity cannot be decoded")
            case AVIF_RESULT_NO_IMAGES_REMAINING:
                .damaged("frames are missing")
            case AVIF_RESULT_UNSUPPORTED_DEPTH:
                .unusual("its number of bits per sample is not read")
            case AVIF_RESULT_REFORMAT_FAILED, AVIF_RESULT_NOT_IMPLEMENTED:
                .unusual("the way it stores colours is not read")
            case AVIF_RESULT_NO_CODEC_AVAILABLE:
                .unusual("no AV1 decoder is installed")
            case AVIF_RESULT_OUT_OF_MEMORY:
                .unusual("there is not enough memory for it")
            default:
                .damaged("its boxes are not valid")
            }
    }
}
