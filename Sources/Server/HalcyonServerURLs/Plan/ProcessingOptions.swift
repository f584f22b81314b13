import HalcyonWork

/// The processing options of a URL, in the URL's terms: independent of the picture's size.
///
/// Lengths are pixels before ``dpr`` unless noted otherwise. The order of the steps is fixed,
/// whatever the order in a URL.
public struct ProcessingOptions: Sendable, Hashable {
    // MARK: Size

    public var resizing = ResizingType.fit
    /// 0: follows from the height.
    public var width = 0
    /// 0: follows from the width.
    public var height = 0
    /// 0: none.
    public var minWidth = 0
    /// 0: none.
    public var minHeight = 0
    /// The factor of the requested width; above 0.
    public var zoomX = 1.0
    /// The factor of the requested height; above 0.
    public var zoomY = 1.0
    /// Device pixels per pixel, the factor of sizes, offsets and paddings; above 0.
    public var dpr = 1.0
    /// Whether the result may be larger than the source.
    public var enlarge = false
    /// The position of the picture on a canvas of the requested size; `nil`: no such canvas.
    public var extend: Gravity?
    /// The position of the picture on a canvas with the requested proportions; `nil`: none.
    public var extendAspectRatio: Gravity?
    /// The gravity of the cut: the part that is kept.
    public var gravity = Gravity.centre
    /// The region cut out of the source before scaling.
    public var crop: Crop?
    public var trim: Trim?
    public var padding = Padding()

    // MARK: Turning

    /// Whether the EXIF orientation is applied.
    public var autoRotate = true
    /// Degrees clockwise, after EXIF: 0, 90, 180 or 270.
    public var rotation = 0
    /// Exchanges left and right, after ``rotation``.
    public var flipHorizontally = false
    /// Exchanges top and bottom, after ``rotation``.
    public var flipVertically = false

    // MARK: Pixels

    /// The colour behind transparent pixels and in paddings; `nil`: they stay transparent.
    public var background: RGBColor?
    /// The sigma of a Gaussian; 0: none.
    public var blur = 0.0
    /// The sigma of an unsharp mask; 0: none.
    public var sharpen = 0.0
    /// The side of the squares in pixels; 0: none.
    public var pixelate = 0
    public var watermark: Watermark?
    /// A chain of processors in Halcyon's text form, applied after the filters.
    public var processors: String?

    // MARK: Metadata and colours

    public var stripMetadata = true
    /// Whether copyright metadata is kept when metadata is stripped.
    public var keepCopyright = true
    /// Whether colours are converted to sRGB and the profile is dropped.
    public var stripColorProfile = true
    /// Whether 16 bits per sample are kept if the format supports it.
    public var preserveHDR = false
    /// Whether the embedded thumbnail of HEIC or AVIF is used as the source.
    public var enforceThumbnail = false

    // MARK: Writing

    /// Per cent, 1…100; `nil`: that of the format.
    public var quality: Int?
    /// Per cent, 1…100, for results in these formats when ``quality`` is `nil`.
    public var formatQuality: [OutputFormat: Int] = [:]
    /// The limit of the result's size in bytes, for lossy formats.
    public var maxBytes: Int?
    /// `nil`: found by negotiation, or that of the source.
    public var format: OutputFormat?
    /// Formats of sources that are sent unchanged when no other format is requested.
    public var skipProcessing: Set<OutputFormat> = []
    /// Whether the response is the source's unchanged bytes, whatever they are.
    public var raw = false

    // MARK: The answer

    /// Any text; a different one gives another cached result of the same picture.
    public var cacheBuster: String?
    /// The expiration of the URL, in Unix seconds; `nil`: never.
    public var expires: Int?
    /// The file name for downloads, without extension.
    public var filename: String?
    /// Whether browsers save the response instead of showing it.
    public var asAttachment = false

    /// The limits that differ from the server's.
    public var limits = LimitOverrides()

    public init() {}
}

extension ProcessingOptions {
    /// The way in which a picture is fitted into the requested size.
    public enum ResizingType: String, Sendable, Hashable, CaseIterable {
        /// As large as fits.
        case fit
        /// Covers the size; the rest is cut off.
        case fill
        /// As `fill`; when the picture is too small, cut to the proportions instead of the size.
        case fillDown = "fill-down"
        /// Exactly the size, distorted if need be.
        case force
        /// `fill` when picture and size are both landscape or both portrait, else `fit`.
        case auto
    }

    /// A region that is cut out of the source before it is resized.
    public struct Crop: Sendable, Hashable {
        /// From 1 on pixels of the source, below 1 a share of the side, 0 the whole side.
        public var width: Double
        /// From 1 on pixels of the source, below 1 a share of the side, 0 the whole side.
        public var height: Double
        /// `nil`: that of the result.
        public var gravity: Gravity?

        public init(width: Double, height: Double, gravity: Gravity? = nil) {
            self.width = width
            self.height = height
            self.gravity = gravity
        }
    }

    /// The trimming of a border of one colour.
    public struct Trim: Sendable, Hashable {
        /// The allowed difference from the colour of the border.
        public var threshold: Double
        /// `nil`: that of the top left pixel.
        public var colour: RGBColor?
        /// Whether left and right are trimmed equally, by the smaller of both.
        public var equalHorizontally: Bool
        /// Whether top and bottom are trimmed equally, by the smaller of both.
        public var equalVertically: Bool

        public init(
            threshold: Double, colour: RGBColor? = nil, equalHorizontally: Bool = false,
            equalVertically: Bool = false
        ) {
            self.threshold = threshold
            self.colour = colour
            self.equalHorizontally = equalHorizontally
            self.equalVertically = equalVertically
        }
    }

    /// Pixels around the result.
    public struct Padding: Sendable, Hashable {
        public var top: Int
        public var right: Int
        public var bottom: Int
        public var left: Int

        public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            self.top = top
            self.right = right
            self.bottom = bottom
            self.left = left
        }
    }

    /// The server's watermark on the result.
    public struct Watermark: Sendable, Hashable {
        /// The position of the watermark.
        public enum Position: Sendable, Hashable {
            case anchor(Gravity.Anchor)
            /// Repeated over the whole picture; the offsets are the gaps.
            case tiled
        }

        /// 0…1, multiplied by that of the server.
        public var opacity: Double
        public var position: Position
        /// As an offset of ``Gravity``.
        public var x: Double
        /// As an offset of ``Gravity``.
        public var y: Double
        /// The share of the result's size into which it is fitted; 0: its natural size.
        public var scale: Double

        public init(
            opacity: Double, position: Position = .anchor(.centre), x: Double = 0, y: Double = 0,
            scale: Double = 0
        ) {
            self.opacity = opacity
            self.position = position
            self.x = x
            self.y = y
            self.scale = scale
        }
    }

    /// Limits that a URL sets for itself; `nil`: those of the server apply.
    public struct LimitOverrides: Sendable, Hashable {
        /// Pixels of the source.
        public var sourcePixels: Int?
        /// Bytes of the source; `.max`: no limit.
        public var sourceBytes: Int?
        /// Frames of an animation; later ones are dropped.
        public var frames: Int?
        /// Pixels of each frame of an animation, in place of those of all together; `.max`: no limit.
        public var framePixels: Int?
        /// The longest side of the result; `.max`: no limit.
        public var resultDimension: Int?

        public init() {}
    }
}

/// An opaque colour in sRGB, 0…255.
public struct RGBColor: Sendable, Hashable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// `nil` unless `hexadecimal` is 3 or 6 hexadecimal digits: `f80` is `ff8800`.
    public init?(hexadecimal: String) {
        let digits = hexadecimal.utf8.compactMap { UInt8(hexadecimalDigit: $0) }
        guard digits.count == hexadecimal.utf8.count else { return nil }
        switch digits.count {
        case 3:
            self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
        case 6:
            self.init(
                red: digits[0] << 4 | digits[1], green: digits[2] << 4 | digits[3],
                blue: digits[4] << 4 | digits[5])
        default: return nil
        }
    }

    /// Six lower-case hexadecimal digits.
    public var hexadecimal: String { String(hexadecimal: [red, green, blue]) }
}
