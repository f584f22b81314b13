import Foundation

extension VipsDecoder: AnimatedImageDecoder {
    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader {
        switch header.format {
        case .GIF: try StripFrameReader(data, header: header)
        case .WebP:
            try WebPFrameReader(
                data, header: header, orientation: orientation(of: opened(data, .WebP), .WebP))
        default: throw ImageCodingError.unsupported(header.format, reason: "it has no frames")
        }
    }
}
