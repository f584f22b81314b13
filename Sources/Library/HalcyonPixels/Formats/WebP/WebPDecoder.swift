import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads WebP files with libwebp directly. The judgement of damaged files is left to libvips.
    ///
    /// libvips has every frame as a picture of its own, opaque ones with an opacity that is taken off again.
    static let webP = ImageDecoder(.WebP) { data, _, _ in
        // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
        guard let file = try? data.withUnsafeBytes({ try WebPFile($0) }) else { return nil }
        return OpenedWebP(data, file)
    }
}

/// A WebP file. Colours of another space than sRGB are converted last.
struct OpenedWebP: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let file: WebPFile
    let orientation: Int
    private let profile: ForeignProfile?

    /// Whether the samples of a still picture are stored as they are.
    var isLossless: Bool { file.isLossless }

    /// `nil` for a file with unusual EXIF data.
    init?(_ data: Data, _ file: WebPFile) {
        guard let orientation = EXIFBlock.orientation(ofBlock: file.exif) else { return nil }
        profile = ForeignProfile(file.profile, channels: 3)
        self.data = data
        self.file = file
        self.orientation = orientation
        let stored = PixelSize(width: file.width, height: file.height)
        header = ImageHeader(
            format: .WebP, size: stored.turned(by: orientation), hasAlpha: file.hasAlpha,
            timing: AnimationTiming(
                stored: file.durations.map { TimeInterval($0) / 1000 }, loopCount: file.loopCount))
    }

    func isLeftToVips(_ size: DecodedSize) -> Bool {
        !file.isAnimated && profile?.isLeftToVips(size, of: header) ?? false
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if isLeftToVips(size) { return nil }
        switch size {
        case .atLeast where file.isAnimated:
            return try readFrame(frame)
        case .exactly where file.isAnimated:
            return nil
        case .atLeast:
            return try picture(header.size, .best).map { .bitmap($0) }
        case .exactly(let reduction):
            return try picture(reduction.size, reduction.quality).map { .bitmap($0) }
        }
    }

    func frameReader() throws -> any FrameReader {
        try CanvasFrameReader(webP: data, file, header: header, orientation: orientation)
    }

    /// The pixels of a still picture, unless they are damaged.
    private func picture(
        _ size: PixelSize, _ quality: DownsamplingQuality
    ) throws -> Bitmap? {
        try pixels(size, quality)?.convertingNewPixels(by: profile)
    }

    /// With colours as they are stored.
    private func pixels(_ size: PixelSize, _ quality: DownsamplingQuality) -> Bitmap? {
        data.withUnsafeBytes { bytes in
            let reader = WebPReader(file, bytes)
            return try? Bitmap(size: size, channels: file.channels, orientation: orientation) {
                stored, pixels throws(CodecRefusal) in
                try reader.read(
                    into: pixels, width: stored.width, height: stored.height,
                    isFast: quality == .fast)
            }
        }
    }
}

extension CanvasFrameReader {
    /// Reads WebP frames with libwebp's own animation decoder: libvips would decode the whole strip into
    /// memory for the first of them.
    ///
    /// - Parameters:
    ///   - file: What the chunks of `data` tell; `nil` for one that has still to be parsed.
    ///   - orientation: How the stored frames are turned, 1…8 as in EXIF.
    init(webP data: Data, _ file: WebPFile? = nil, header: ImageHeader, orientation: Int) throws {
        let owner = ByteOwner(data)
        let (animation, parsed) = try ImageFormat.WebP.reporting {
            (try WebPAnimation(owner.bytes, owner: owner), try file ?? WebPFile(owner.bytes))
        }
        let stored = header.size.turned(by: orientation)
        guard animation.width == stored.width, animation.height == stored.height else {
            throw ImageCodingError.corrupt(.WebP, reason: "its headers tell different sizes")
        }
        self.init(
            header, animation, orientation: orientation,
            profile: ForeignProfile(parsed.profile, channels: 3))
    }
}
