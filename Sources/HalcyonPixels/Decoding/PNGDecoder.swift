import DirectCodecs
import Foundation
import Vips

/// Reads ordinary PNG files directly. Others, and the judgement of damaged ones, are left to libvips.
///
/// libvips 8.14 inflates with zlib and takes filters off without SIMD, and its pipeline costs more than
/// the pixels of an icon. A reduced picture is resampled while its rows come out.
struct PNGDecoder: ImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool {
        format == .PNG && DirectCoding.formats.contains(.PNG)
    }

    func canDecode(_ data: Data, format: ImageFormat) -> Bool {
        canDecode(format) && data.withUnsafeBytes { (try? OrdinaryPNG($0)) != nil }
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        do {
            let png = try data.withUnsafeBytes { bytes in
                try OrdinaryPNG(bytes)
            }
            return ImageHeader(format: .PNG, size: png.size, hasAlpha: png.file.hasAlpha)
        } catch {
            throw ImageCodingError.unsupported(.PNG, reason: "it is of an unusual kind")
        }
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        guard let bitmap = try bitmap(data, header.size) else {
            return try VipsDecoder().decode(
                data, header: header, frame: frame, leastSize: leastSize)
        }
        return .bitmap(bitmap)
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    {
        try bitmap(data, reduction.size).map { .bitmap($0) }
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        guard let bitmap = try bitmap(data, header.size) else {
            return try VipsDecoder().decodeAllFrames(data, header: header)
        }
        return [bitmap]
    }

    private func bitmap(_ data: Data, _ size: PixelSize) throws -> Bitmap? {
        try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bitmap? in
            // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
            guard let png = try? OrdinaryPNG(bytes) else { return nil }
            do throws(PNGRefusal) {
                return try png.bitmap(size: size)
            } catch {
                guard error == .wrongChecksum else { return nil }
                throw ImageCodingError.corrupt(.PNG, reason: "the checksum of its pixels is wrong")
            }
        }
    }
}

/// A PNG file whose pixels are all that there is to obey.
private struct OrdinaryPNG {
    let file: PNGFile
    /// As shown.
    let size: PixelSize
    private let orientation: Int
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) throws(PNGRefusal) {
        self.bytes = bytes
        file = try PNGFile(bytes)
        guard let orientation = EXIFBlock.orientation(ofBlock: file.exif) else {
            throw .unusual("its EXIF data")
        }
        self.orientation = orientation
        let isGrey = file.isGrey
        guard ICCProfile.isNeutral(file.profile, channels: isGrey ? 1 : 3) else {
            throw .unusual("its colours")
        }
        size = PixelSize(width: file.width, height: file.height).turned(by: orientation)
    }

    func bitmap(size: PixelSize) throws(PNGRefusal) -> Bitmap {
        let reader = try PNGReader(file, bytes)
        return try Bitmap(size: size, channels: file.channels, orientation: orientation) {
            stored, pixels throws(PNGRefusal) in
            try reader.read(into: pixels, width: stored.width, height: stored.height)
        }
    }
}
