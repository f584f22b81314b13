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
