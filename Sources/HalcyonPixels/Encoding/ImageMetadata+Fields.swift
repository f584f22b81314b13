import DirectCodecs
public import Foundation
import Vips

extension ImageMetadata {
    /// The metadata blocks of a file that libvips reads; pixels are not decoded. PNG, SVG, GIF, BMP and
    /// ICO files often have none, and then all blocks are `nil`.
    ///
    /// - Throws: `ImageCodingError` when `data` is not an image, or one that cannot be read.
    public init(reading data: Data) throws {
        let encoded = try EncodedImage(data, limits: DecodingLimits(maximumPixelCount: nil))
        guard let loader = VipsLoader(encoded.header.format) else {
            self.init()
            return
        }
        do {
            let image = try loader.open(data)
            self.init(
                exif: image.blob("exif-data"), xmp: image.blob("xmp-data"),
                iptc: image.blob("iptc-data"))
        } catch {
            // The file is whole, and of a kind that only its own decoder reads.
            guard encoded.opened is OpenedByVips else {
                self.init()
                return
            }
            throw error.codingError(encoded.header.format)
        }
    }

    /// A file without what its metadata tells of the place where the picture was taken.
    ///
    /// The pixels stay as they are to the bit, and so does all other metadata.
    package static func removingPosition(from file: Data) -> Data {
        PositionMetadata.removed(from: file)
    }

    /// The blocks that libvips writes into files of `format`, as its fields. Pixels are upright by now,
    /// so that the orientation in EXIF data is set to 1.
    func fields(for format: ImageFormat) -> [(String, VipsValue)] {
        var fields: [(String, VipsValue)] = []
        if let exif, Self.exifFormats.contains(format) {
            fields.append(("exif-data", .blob(EXIFOrientation.reset(in: exif))))
            fields.append(("orientation", 1))
        }
        if let xmp, Self.xmpFormats.contains(format) { fields.append(("xmp-data", .blob(xmp))) }
        if let iptc, Self.iptcFormats.contains(format) { fields.append(("iptc-data", .blob(iptc))) }
        return fields
    }

    private static let exifFormats: Set<ImageFormat> = [.JPEG, .PNG, .WebP, .AVIF, .HEIC]
    private static let xmpFormats = exifFormats.union([.TIFF])
    private static let iptcFormats: Set<ImageFormat> = [.JPEG, .TIFF]
}
