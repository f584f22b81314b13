import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads AVIF files with libavif, pictures and sequences. What libavif cannot parse is left to libvips.
    static let avif = ImageDecoder {
        $0 == .AVIF && AVIFFile.isAvailable
    } open: { data, _, _ in
        // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
        try? OpenedFrames<AVIFFrameReader>(data)
    }
}

/// Decodes the frames of an AVIF file, crops and turns them, and converts their colours. A reduced picture is
/// resampled before it is turned and before its colours are converted, when it has fewest pixels.
struct AVIFFrameReader: FileFrameReader {
    private(set) var position = 0

    private let file: AVIFFile
    private let profile: ForeignProfile?
    private let colours: ColourDescription
    /// The number of times a sequence plays; 0 means forever. libavif below 1.0 does not report it.
    private let loopCount: Int

    init(_ data: Data) throws {
        let owner = ByteOwner(data)
        file = try ImageFormat.AVIF.reporting { try AVIFFile(owner.bytes, owner: owner) }
        loopCount = file.durations.isEmpty ? 0 : ImageInformation.loopCount(ofHEIF: data)
        profile = ForeignProfile(
            file.profile, channels: 3, isMonochrome: file.isMonochrome)
        // A profile counts more, also one that changes nothing.
        let profile = file.profile
        guard
            let colours = ColourDescription(
                primaries: profile == nil ? file.primaries : 1,
                transfer: profile == nil ? file.transfer : 13)
        else {
            throw ImageCodingError.unsupported(
                .AVIF, reason: "its transfer characteristics \(file.transfer) are not read")
        }
        self.colours = colours
    }

    var header: ImageHeader {
        ImageHeader(
            format: .AVIF, size: file.shownSize, storedSize: file.storedSize,
            hasAlpha: file.hasAlpha, depth: depth,
            timing: AnimationTiming(stored: file.durations, loopCount: loopCount))
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        let stored = try ImageFormat.AVIF.reporting {
            for _ in position..<index { try file.skip() }
            return try Bitmap(size: file.storedSize, channels: file.channels, depth: depth) {
                _, pixels throws(CodecRefusal) in
                try file.next(into: pixels)
            }
        }
        guard file.transforms != AVIFFile.Transforms() else { return try converted(stored) }
        return try converted(Bitmap(rendering: stored.vipsImage().transformed(file.transforms)))
    }

    var canReduce: Bool { profile != nil || colours.hasStepsOfSRGB }

    mutating func reduced(to size: PixelSize) throws -> Bitmap {
        position = 1
        return try ImageFormat.AVIF.reporting {
            let bitmap = try Bitmap(
                size: size, channels: file.channels, depth: depth,
                orientation: file.transforms.orientation
            ) { stored, pixels throws(CodecRefusal) in
                try file.next(into: pixels, width: stored.width, height: stored.height)
            }
            return try converted(bitmap)
        }
    }

    private var depth: Bitmap.Depth { file.deliveredDepth == 16 ? .sixteen : .eight }

    /// The pixels in sRGB.
    private func converted(_ bitmap: consuming Bitmap) throws -> Bitmap {
        guard let profile else { return bitmap.convertingNewPixels(from: colours) }
        return try bitmap.convertingNewPixels(by: profile)
    }
}

extension AVIFFile {
    fileprivate var storedSize: PixelSize { PixelSize(width: width, height: height) }

    fileprivate var shownSize: PixelSize {
        let cropped =
            transforms.crop.map { PixelSize(width: $0.width, height: $0.height) } ?? storedSize
        return cropped.turned(by: transforms.orientation)
    }
}

extension VipsImage {
    fileprivate func transformed(
        _ transforms: AVIFFile.Transforms
    ) throws(VipsError) -> VipsImage {
        var image = self
        if let crop = transforms.crop {
            image = try image.cropped(
                left: crop.left, top: crop.top, width: crop.width, height: crop.height)
        }
        return try image.settingMetadata([("orientation", .int(transforms.orientation))])
            .orientationApplied()
    }
}
