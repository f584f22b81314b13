import DirectCodecs
import Foundation
import Vips

/// Reads WebP files with libwebp directly. Pictures whose colours have to be converted, and the judgement
/// of damaged files, are left to libvips.
///
/// libvips has every frame as a picture of its own, opaque ones with an opacity that is taken off again.
struct WebPDecoder: ImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool { format == .WebP }

    func open(
        _ data: Data, format: ImageFormat, coding: DirectCoding
    ) -> (any OpenedImage)? {
        // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
        guard let file = try? data.withUnsafeBytes({ try WebPFile($0) }) else { return nil }
        return OpenedWebP(data, file)
    }
}

/// A WebP file whose pixels are all that there is to obey.
struct OpenedWebP: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let file: WebPFile
    private let orientation: Int

    /// `nil` for a file with other EXIF data or colours than common ones.
    init?(_ data: Data, _ file: WebPFile) {
        guard let orientation = EXIFBlock.orientation(ofBlock: file.exif),
            ICCProfile.isNeutral(file.profile, channels: 3)
        else { return nil }
        self.data = data
        self.file = file
        self.orientation = orientation
        let stored = PixelSize(width: file.width, height: file.height)
        var header = ImageHeader(
            format: .WebP, size: stored.turned(by: orientation), hasAlpha: file.hasAlpha)
        if file.isAnimated {
            header.frameCount = file.durations.count
            header.timing = AnimationTiming(
                durations: file.durations.map {
                    AnimationTiming.clamped(TimeInterval($0) / 1000)
                }, loopCount: file.loopCount)
        }
        self.header = header
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast where file.isAnimated:
            var reader = try frameReader()
            return .bitmap(try reader.frame(frame))
        case .exactly where file.isAnimated:
            return nil
        case .atLeast:
            return picture(header.size, .best).map { .bitmap($0) }
        case .exactly(let reduction):
            return picture(reduction.size, reduction.quality).map { .bitmap($0) }
        }
    }

    func frameReader() throws -> any FrameReader {
        try WebPFrameReader(data, file, header: header, orientation: orientation)
    }

    /// The pixels of a still picture, unless they are damaged.
    private func picture(_ size: PixelSize, _ quality: DownsamplingQuality) -> Bitmap? {
        data.withUnsafeBytes { bytes in
            let reader = WebPReader(file, bytes)
            return try? Bitmap(size: size, channels: file.channels, orientation: orientation) {
                stored, pixels throws(WebPRefusal) in
                try reader.read(
                    into: pixels, width: stored.width, height: stored.height,
                    quality: quality == .best ? .best : .fast)
            }
        }
    }
}

/// Reads WebP frames with libwebp's own animation decoder: libvips would decode the whole strip into
/// memory for the first of them.
struct WebPFrameReader: FrameReader {
    private(set) var position = 0

    private let header: ImageHeader
    private let animation: WebPAnimation
    /// A colour profile that has to be obeyed.
    private let profile: Data?
    private let orientation: Int

    /// - Parameters:
    ///   - file: What the chunks of `data` tell; `nil` for one that has still to be parsed.
    ///   - orientation: How the stored frames are turned, 1…8 as in EXIF.
    init(_ data: Data, _ file: WebPFile? = nil, header: ImageHeader, orientation: Int) throws {
        self.header = header
        self.orientation = orientation
        let owner = ByteOwner(data)
        let bytes = UnsafeRawBufferPointer(start: owner.pointer, count: owner.count)
        do throws(WebPRefusal) {
            animation = try WebPAnimation(bytes, owner: owner)
            if let file {
                profile = Self.profile(of: file)
            } else {
                profile = Self.profile(of: try WebPFile(bytes))
            }
        } catch {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        }
        let stored = header.size.turned(by: orientation)
        guard animation.width == stored.width, animation.height == stored.height else {
            throw ImageCodingError.corrupt(.WebP, reason: "its headers tell different sizes")
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        do {
            for _ in position..<index { try animation.skip() }
            let channels = header.hasAlpha || profile != nil ? 4 : 3
            let bitmap = try Bitmap(
                size: header.size, channels: channels, orientation: orientation
            ) { _, pixels throws(WebPRefusal) in
                try animation.next(into: pixels, channels: channels)
            }
            guard let profile else { return bitmap }
            let image = try bitmap.vipsImage()
                .settingMetadata([("icc-profile-data", .blob(profile))])
            return try Bitmap(rendering: image.decodedToSRGB(alpha: header.hasAlpha))
        } catch let error as WebPRefusal {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        } catch let error as VipsError {
            throw error.codingError(.WebP)
        }
    }

    /// The colour profile of a file, unless it is that of sRGB.
    private static func profile(of file: WebPFile) -> Data? {
        guard let profile = file.profile else { return nil }
        let data = Data(profile)
        return ICCProfile(data)?.isSRGB == true ? nil : data
    }
}
