/// The formats of image files.
public enum ImageFormat: String, Sendable, CaseIterable {
    /// Not recognised.
    case unknown
    case PNG
    case JPEG
    case GIF
    case WebP
    case AVIF
    case HEIC
    case JPEGXL
    case TIFF
    case SVG
    case PDF
    case BMP
    case ICO
}

extension ImageFormat {
    /// The marks between the parts of a JPEG file.
    public enum JPEGMarker: Sendable {
        /// Baseline frame.
        case SOF0
        /// Progressive frame.
        case SOF2
        /// Huffman tables.
        case DHT
        /// Quantisation tables.
        case DQT
        /// Restart interval.
        case DRI
        /// Start of a scan.
        case SOS
        /// Restart `n`, 0…7.
        case RSTn(UInt8)
        /// Application segment 0.
        case APPn
        /// Comment.
        case COM
        /// End of the image.
        case EOI

        package var bytes: [UInt8] {
            switch self {
            case .SOF0: [0xFF, 0xC0]
            case .SOF2: [0xFF, 0xC2]
            case .DHT: [0xFF, 0xC4]
            case .DQT: [0xFF, 0xDB]
            case .DRI: [0xFF, 0xDD]
            case .SOS: [0xFF, 0xDA]
            case .RSTn(let n): [0xFF, 0xD0 &+ n]
            case .APPn: [0xFF, 0xE0]
            case .COM: [0xFF, 0xFE]
            case .EOI: [0xFF, 0xD9]
            }
        }
    }
}
