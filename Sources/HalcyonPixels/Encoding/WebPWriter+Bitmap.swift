import DirectCodecs
import Foundation

extension WebPWriter {
    /// Writes the pixels of a bitmap of 8 bits.
    ///
    /// - Throws: `WebPRefusal`.
    func file(of bitmap: Bitmap) throws -> Data {
        try bitmap.withEightBits { pixels in
            Data(
                try file(
                    of: pixels, width: bitmap.size.width, height: bitmap.size.height,
                    channels: bitmap.channels))
        }
    }
}
