import CDecoding
import DirectCodecs
import Foundation
import Vips

extension VipsImage {
    /// How many pixels of the average, along each side, a pixel of the result is made of.
    private static let averagePixels = 4

    /// Whether `size` is so much smaller than `full` that averaging comes first.
    static func isReducedByArea(_ full: PixelSize, to size: PixelSize) -> Bool {
        let least = 6 * averagePixels
        return full.width / least >= size.width && full.height / least >= size.height
    }

    /// The image, RGBA of 8 or 16 bits, in a much smaller size: averaged row by row to four times that, then resampled.
    ///
    /// libvips multiplies each pixel with its opacity as floating-point numbers in memory before anything
    /// else, which takes longer than decoding.
    func reducedByArea(to size: PixelSize) throws -> VipsImage {
        let isDeep = format == .ushort
        let (width, height) = (Self.averagePixels * size.width, Self.averagePixels * size.height)
        let reducer = AreaReducer(
            sourceWidth: self.width, sourceHeight: self.height, width: width, height: height,
            isDeep: isDeep)
        try forEachRow { row in
            reducer.push(row)
            return !cdecoding_is_late()
        }
        if cdecoding_is_late() {
            throw ImageCodingError.processing(reason: "it takes too long")
        }
        return try VipsImage.memory(
            reducer.pixels, count: reducer.byteCount, owner: reducer, width: width, height: height,
            bands: 4, format: .float, interpretation: isDeep ? .rgb16 : .srgb
        ).resizedFromPremultiplied(
            to: size.width, height: size.height, as: isDeep ? .ushort : .uchar)
    }
}
