import DirectCodecs
import Foundation
import Vips

extension ByteOwner {
    /// A file of `format` that reads the bytes of `data` where they are, and keeps their owner.
    ///
    /// - Throws: `ImageCodingError` in place of the refusal of `open`.
    static func file<File>(
        _ format: ImageFormat, of data: Data,
        _ open: (UnsafeRawBufferPointer, ByteOwner) throws(CodecRefusal) -> File
    ) throws(ImageCodingError) -> File {
        let owner = ByteOwner(data)
        do throws(CodecRefusal) {
            return try open(
                UnsafeRawBufferPointer(start: owner.pointer, count: owner.count), owner)
        } catch {
            throw error.codingError(format)
        }
    }
}
