/// The formats that an image URL can name.
///
/// Which of them can be written depends on the machine; `svg` never is, unless the source is SVG.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg
    case png
    case webp
    case avif
    case gif
    case jxl
    case tiff
    case heic
    case bmp
    case ico
    case svg

    /// The format of this name in a URL, as an option or behind the source: `jpg`, `jpeg`, `tif`…
    public init?(urlName: String) {
        switch urlName {
        case "jpg": self = .jpeg
        case "tif": self = .tiff
        default: self.init(rawValue: urlName)
        }
    }

    /// The extension of URLs and file names: `jpg` for JPEG.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The `Content-Type` of the format.
    public var mediaType: String {
        switch self {
        case .svg: "image/svg+xml"
        case .ico: "image/x-icon"
        default: "image/\(rawValue)"
        }
    }

    /// The longest possible side of the format, in pixels; `nil` without such a limit.
    public var maximumSide: Int? {
        switch self {
        case .webp: 16_383
        case .avif, .heic: 16_384
        case .gif, .jpeg: 65_535
        case .ico: 256
        case .png, .jxl, .tiff, .bmp, .svg: nil
        }
    }

    /// The shortest side that encoders of the format can write, in pixels.
    public var minimumSide: Int { self == .avif || self == .heic ? 16 : 1 }

    /// Whether the format has transparency.
    public var holdsAlpha: Bool {
        switch self {
        case .jpeg, .bmp: false
        default: true
        }
    }

    /// Whether the format is written with several frames. AVIF and JPEG XL are written as stills.
    public var holdsAnimation: Bool { self == .gif || self == .webp }
}
