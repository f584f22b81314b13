import DirectCodecs
import Foundation
import Vips

/// Reads ordinary PNG files directly, and leaves all others, and the judgement of damaged ones, to
/// libvips.
///
/// libvips 8.14 inflates with zlib and takes filters off without SIMD; and its pipeline costs more than
/// the pixels of an icon. A reduced picture is resampled while its rows come out.
struct PNGDecoder: ImageDecoder {
    private let other = VipsDecoder()

    func canDecode(_ format: ImageFormat) -> Bool { format == .PNG }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        let file = data.withUnsafeBytes { file($0) }
        guard let file else { return try other.header(of: data, format: format) }
        return ImageHeader(
            format: .PNG, size: PixelSize(width: file.width, height: file.height),
            hasAlpha: file.hasAlpha)
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        guard let bitmap = bitmap(data, leastSize) else {
            return try other.decode(data, header: header, frame: frame, leastSize: leastSize)
        }
        return .bitmap(bitmap)
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        guard let bitmap = bitmap(data, nil) else {
            return try other.decodeAllFrames(data, header: header)
        }
        return [bitmap]
    }

    /// The file if it is of a kind that is read here.
    private func file(_ bytes: UnsafeRawBufferPointer) -> PNGFile? {
        // Why it is not does not matter: libvips reads it, or tells what is wrong.
        guard let file = try? PNGFile(bytes), file.exif == nil,
            file.profile.map({ ICCProfile(Data($0))?.isSRGB == true }) ?? true
        else { return nil }
        return file
    }

    private func bitmap(_ data: Data, _ leastSize: PixelSize?) -> Bitmap? {
        data.withUnsafeBytes { bytes in
            guard let file = file(bytes) else { return nil }
            // As above.
            return try? decoded(file, bytes, leastSize)
        }
    }

    private func decoded(
        _ file: PNGFile, _ bytes: UnsafeRawBufferPointer, _ leastSize: PixelSize?
    ) throws(PNGRefusal) -> Bitmap {
        let full = PixelSize(width: file.width, height: file.height)
        let reader = try PNGReader(file, bytes)
        guard let size = leastSize, size.isReduction(of: full) else {
            return try Bitmap(size: full, channels: file.channels) { pixels throws(PNGRefusal) in
                try reader.read(into: pixels)
            }
        }
        return try Bitmap(size: size, channels: file.channels) { pixels throws(PNGRefusal) in
            let resampler = InterleavedResampler(
                horizontal: SampleAxis(sourceCount: full.width, targetCount: size.width),
                vertical: SampleAxis(sourceCount: full.height, targetCount: size.height),
                channels: file.channels)
            var row = pixels
            try reader.forEachRow { source in
                resampler.push(source)
                while resampler.hasNextRow {
                    resampler.writeNextRow(to: row)
                    row += size.width * file.channels
                }
            }
        }
    }
}

extension PixelSize {
    /// Whether this is a size that a picture of `full` can be reduced to.
    func isReduction(of full: PixelSize) -> Bool {
        width > 0 && height > 0 && width <= full.width && height <= full.height && self != full
    }
}
