import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads animated PNG files. What has one picture only is left to the decoders behind this one.
    ///
    /// The frames of common files are inflated directly; those of others, interlaced, of 16 bits or with colours
    /// that have to be converted, are given to libvips as files of their own.
    static let animatedPNG = ImageDecoder(.PNG) { data, _, _ in
        try OpenedAPNG(data)
    }
}

/// A PNG file with frames.
struct OpenedAPNG: OpenedImage {
    /// The way in which frames are decoded: with the direct codec, or as files given to libvips.
    enum FrameKind {
        case common(PNGFile)
        case other(hasAlpha: Bool)

        var hasAlpha: Bool {
            switch self {
            case .common(let file): file.hasAlpha
            case .other(let hasAlpha): hasAlpha
            }
        }
    }

    let header: ImageHeader
    fileprivate let data: Data
    fileprivate let file: APNGFile
    fileprivate let kind: FrameKind
    let orientation: Int

    /// `nil` for a file without an animation, and for one whose only frame is the picture that others show.
    ///
    /// - Throws: What is wrong with the animation.
    init?(_ data: Data) throws {
        let found = try ImageFormat.PNG.reporting {
            try data.withUnsafeBytes { try APNGFile($0) }
        }
        guard let file = found, file.frames.count > 1 || !file.beginsWithStill else { return nil }
        var header = ImageHeader(
            format: .PNG, size: PixelSize(width: file.width, height: file.height),
            hasAlpha: false)
        // Why it is no common file does not matter: libvips reads it, or tells what is wrong.
        let common = data.withUnsafeBytes { try? PNGFile($0) }
        if let common, let orientation = Self.orientation(ofPlain: common) {
            kind = .common(common)
            self.orientation = orientation
        } else {
            let image = try ImageFormat.PNG.reporting { try VipsLoader.of(.PNG).open(data) }
            kind = .other(hasAlpha: image.hasAlpha)
            orientation = image.orientation(in: .PNG)
            header.depth = image.isDeep ? Bitmap.Depth.sixteen : .eight
        }
        header.size = header.size.turned(by: orientation)
        header.hasAlpha = file.hasAlpha(kind.hasAlpha)
        header.timing = AnimationTiming(
            stored: file.frames.map(\.duration), loopCount: file.loopCount)
        self.header = header
        self.data = data
        self.file = file
    }

    /// The EXIF orientation of a file, 1…8; `nil` for uncommon EXIF data or colours.
    private static func orientation(ofPlain file: PNGFile) -> Int? {
        file.colours?.isSRGB
            ?? (ForeignProfile(file.profile, channels: file.isGrey ? 1 : 3) == nil)
            ? EXIFBlock.orientation(ofBlock: file.exif) : nil
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast:
            return try readFrame(frame)
        case .exactly:
            guard frame == 0, file.beginsWithStill, let still = try still(),
                still.header.hasAlpha == header.hasAlpha
            else { return nil }
            return try still.decode(frame: 0, size)
        }
    }

    func frameReader() throws -> any FrameReader {
        CanvasFrameReader(header, APNGFrames(self), orientation: orientation)
    }

    func still() throws -> (any OpenedImage)? {
        try ImageDecoder.png.open(data, .PNG, .current)
            ?? ImageDecoder.vips.open(data, .PNG, .current)
    }
}

/// Draws the frames of an animated PNG file onto each other.
private final class APNGFrames: AnimationCanvas {
    private let opened: OpenedAPNG
    /// The coded colours of all frames, for an uncommon file.
    private let colours: ColourDescription?
    private let canvas: APNGCanvas

    init(_ opened: OpenedAPNG) {
        self.opened = opened
        colours =
            if case .other = opened.kind {
                opened.data.withUnsafeBytes { ColourDescription(ofPNG: $0) }
            } else {
                nil
            }
        canvas = APNGCanvas(
            opened.file, channels: opened.header.hasAlpha ? 4 : 3,
            isDeep: opened.header.depth == .sixteen)
    }

    func next(into pixels: UnsafeMutablePointer<UInt8>, channels: Int) throws {
        try skip()
        canvas.copy(to: pixels)
    }

    func skip() throws {
        try opened.data.withUnsafeBytes { bytes in
            switch opened.kind {
            case .common(let common):
                try canvas.drawNext(common, bytes)
            case .other(let hasAlpha):
                let separate = Data(try opened.file.separateFile(of: canvas.nextFrame, bytes))
                draw(try separateFrame(separate, hasAlpha: hasAlpha))
            }
        }
    }

    private func separateFrame(_ data: Data, hasAlpha: Bool) throws -> Bitmap {
        let bitmap = try Bitmap(
            rendering: VipsLoader.of(.PNG).open(data).decodedToSRGB(alpha: hasAlpha, from: colours))
        let frame = opened.file.frames[canvas.nextFrame]
        guard bitmap.size == PixelSize(width: frame.width, height: frame.height),
            bitmap.depth == opened.header.depth
        else { throw ImageCodingError.corrupt(.PNG, reason: "its frames differ in kind") }
        return bitmap
    }

    private func draw(_ frame: Bitmap) {
        frame.withUnsafeBytes { pixels in
            canvas.drawNext(channels: frame.channels) { take in
                for y in 0..<frame.size.height {
                    take(pixels.baseAddress! + y * frame.bytesPerRow)
                }
            }
        }
    }
}
