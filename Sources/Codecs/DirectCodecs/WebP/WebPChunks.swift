package import Foundation

/// The chunks of a WebP file (its container is RIFF), as far as they have begun.
package struct WebPChunks: Sequence, IteratorProtocol {
    package struct Chunk {
        package let name: String
        /// Where its content is, or would be in a longer file.
        package let content: Range<Int>

        /// With its name and length, and the byte that makes the length even.
        package var whole: Range<Int> {
            content.lowerBound - 8..<content.upperBound + content.count % 2
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int

    /// Those within the length that the file states.
    package init(_ bytes: UnsafeRawBufferPointer) {
        // It counts from the letters "WEBP" on.
        let length = bytes.integer(at: 4, length: 4, littleEndian: true) ?? 0
        self.init(bytes, 12..<Swift.max(12, 8 + length))
    }

    /// The chunks in a part of the bytes.
    package init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    package mutating func next() -> Chunk? {
        guard offset + 8 <= end,
            let length = bytes.integer(at: offset + 4, length: 4, littleEndian: true)
        else { return nil }
        let name = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        let chunk = Chunk(name: name, content: offset + 8..<offset + 8 + length)
        offset = chunk.whole.upperBound
        return chunk
    }
}

extension Data {
    /// Has a RIFF file that begins at 0 state its length.
    package mutating func setRIFFLength() {
        let size = UInt32(truncatingIfNeeded: count - 8)
        for index in 0..<4 { self[4 + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
    }
}
