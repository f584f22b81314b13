import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads ordinary JPEG files with libjpeg-turbo, straight to the pixels of the size that is wanted.
    ///
    /// libvips reads them as well, but its pipeline costs 0.3 to 0.5 ms for each image before the first pixel,
    /// and resamples without SIMD. What is unusual is left to it, such as CMYK and 12 bits.
    static let jpeg = ImageDecoder(.JPEG) { data, _, coding in
        guard let header = data.withUnsafeBytes(JPEGHeader.init) else { return nil }
        return OpenedJPEG(data, header, skipsCoefficients: coding.skipsJPEGCoefficients)
    }
}

/// An ordinary JPEG file. Colours of another space than sRGB are converted last, when there are fewest
/// pixels.
struct OpenedJPEG: OpenedImage {
    /// Above this many pixels a chain of steps is better fed row by row than from a whole picture.
    static let mostPixelsForChains = 4_000_000

    /// Larger pictures are turned while they are decoded, so that they are not held twice.
    private static let mostPixelsToTurnWhole = 24_000_000

    let header: ImageHeader
    private let data: Data
    private let stored: JPEGHeader
    private let skipsCoefficients: Bool
    private let profile: ForeignProfile?

    /// `nil` for a grey file with a profile of tables.
    init?(_ data: Data, _ stored: JPEGHeader, skipsCoefficients: Bool) {
        self.data = data
        self.stored = stored
        self.skipsCoefficients = skipsCoefficients
        profile = ForeignProfile(stored.profile, channels: stored.isGrey ? 1 : 3)
        guard profile?.isGreyTable != true else { return nil }
        let size = PixelSize(width: stored.width, height: stored.height)
        header = ImageHeader(
            format: .JPEG, size: size.turned(by: stored.orientation), hasAlpha: false)
    }

    var orientation: Int { stored.orientation }

    func isLeftToVips(_ size: DecodedSize) -> Bool {
        guard header.size.pixelCount > Self.mostPixelsForChains else { return false }
        return switch size {
        case .atLeast(nil): true
        case .atLeast: false
        case .exactly: profile?.isLeftToVips(size, of: header) ?? false
        }
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if isLeftToVips(size) { return nil }
        switch size {
        case .atLeast(nil):
            return .bitmap(try decoded(denominator: 1))
        case .atLeast(let least?):
            let denominator = [8, 4, 2].first {
                let reduced = reducedSize($0)
                return reduced.width >= least.width && reduced.height >= least.height
            }
            return .bitmap(try decoded(denominator: denominator ?? 1))
        case .exactly(let reduction) where reduction.size == header.size:
            return .bitmap(try decoded(denominator: 1))
        case .exactly(let reduction):
            return .bitmap(try reduced(reduction))
        }
    }

    private func decoded(denominator: Int) throws -> Bitmap {
        try upright(size: reducedSize(denominator)) { bytes, _, pixels in
            try JPEGReader.read(bytes, header: stored, denominator: denominator, into: pixels)
        }
    }

    private func reduced(_ reduction: Reduction) throws -> Bitmap {
        try upright(size: reduction.size) { bytes, size, pixels in
            try JPEGReader.read(
                bytes, header: stored, width: size.width, height: size.height,
                isFast: reduction.quality == .fast,
                skipsCoefficients: skipsCoefficients, into: pixels)
        }
    }

    private func reducedSize(_ denominator: Int) -> PixelSize {
        PixelSize(
            width: JPEGReader.reduced(header.size.width, denominator),
            height: JPEGReader.reduced(header.size.height, denominator))
    }

    /// The pixels that `read` writes, turned and with colours as the file says. `size` is as shown, the one
    /// `read` is called with as stored.
    private func upright(
        size: PixelSize,
        _ read: (UnsafeRawBufferPointer, PixelSize, UnsafeMutablePointer<UInt8>) throws -> Void
    ) throws -> Bitmap {
        try ImageFormat.JPEG.reporting {
            let bitmap = try data.withUnsafeBytes { bytes in
                if stored.orientation > 1, size == header.size,
                    size.pixelCount > Self.mostPixelsToTurnWhole
                {
                    return try Bitmap(size: size, channels: 3) { _, pixels in
                        try JPEGReader.readTurned(bytes, header: stored, into: pixels)
                    }
                }
                return try Bitmap(size: size, channels: 3, orientation: stored.orientation) {
                    size, pixels in
                    try read(bytes, size, pixels)
                }
            }
            return try bitmap.convertingNewPixels(by: profile)
        }
    }
}

/// A JPEG file that had no mark at its end: before its pixels are shown, it is found out whether all are there.
struct UnendedJPEG: OpenedImage {
    private let data: Data
    private let opened: any OpenedImage

    init(_ data: Data, _ opened: any OpenedImage) {
        self.data = data
        self.opened = opened
    }

    var header: ImageHeader { opened.header }
    var orientation: Int { opened.orientation }

    func isLeftToVips(_ size: DecodedSize) -> Bool { opened.isLeftToVips(size) }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        guard JPEGEnding.hasAllPixels(data) else {
            throw ImageCodingError.corrupt(.JPEG, reason: "Premature end of JPEG file")
        }
        return try opened.decode(frame: frame, size)
    }
}

extension JPEGFrame {
    /// Reads the frame header, for properties that libvips does not report, or only by failing.
    init?(_ file: Data) {
        guard let frame = file.withUnsafeBytes({ JPEGFrame(of: $0) }) else { return nil }
        self = frame
    }

    var size: PixelSize { PixelSize(width: width, height: height) }

    /// Why this kind of JPEG cannot be read, or `nil` when it can.
    var refusal: String? {
        if precision != 8 {
            return "it has \(precision) bits per sample, only 8 are read"
        }
        return switch process {
        case 0, 1, 2, 9, 10: nil
        case 3, 11: "it is lossless JPEG"
        default: "it is hierarchical JPEG or JPEG-LS"
        }
    }

    /// The maximum number of scans in a file: the number of SOS byte pairs in it.
    static func scanCount(of data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var (count, offset) = (0, 0)
            while offset + 1 < bytes.count,
                let found = memchr(base + offset, 0xFF, bytes.count - offset - 1)
            {
                offset = UnsafeRawPointer(found) - base + 1
                if bytes[offset] == 0xDA { count += 1 }
            }
            return count
        }
    }
}
