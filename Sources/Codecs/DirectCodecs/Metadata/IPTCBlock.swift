package import Foundation

/// A block of IPTC data: data sets of the Information Interchange Model (IIM 4, chapter 1), alone or in the
/// image resources of Photoshop, as JPEG files have them.
package enum IPTCBlock {
    /// Record and number of the data sets that say who made a picture and who may use it, byline, credit and
    /// copyright notice, and of the one that says which characters the texts are in.
    private static let rights: Set<[UInt8]> = [[2, 80], [2, 110], [2, 116]]
    private static let characters: [UInt8] = [1, 90]
    private static let resourceNumber = 0x0404

    /// A block with nothing but author, credit and copyright notice of `block`; `nil` when it names none of
    /// them.
    package static func rights(of block: Data) -> Data? {
        block.withUnsafeBytes { bytes in
            guard bytes.hasText("Photoshop 3.0\0") else { return kept(of: bytes[...]) }
            guard let range = resource(in: bytes), let sets = kept(of: bytes[range]) else {
                return nil
            }
            return asResource(sets)
        }
    }

    /// The block as JPEG files have it: in the image resources of Photoshop.
    static func asResource(_ block: Data) -> Data {
        guard !block.starts(with: Array("Photoshop 3.0\0".utf8)) else { return block }
        var result = Data("Photoshop 3.0\08BIM\u{4}\u{4}\0\0".utf8)
        result.append(
            contentsOf: withUnsafeBytes(of: UInt32(block.count).bigEndian) { Array($0) })
        result.append(block)
        if !block.count.isMultiple(of: 2) { result.append(0) }
        return result
    }

    /// Where the data sets are in the image resources.
    private static func resource(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        var offset = 14
        while bytes.hasText("8BIM", at: offset),
            let number = bytes.bigEndian(offset + 4, 2),
            let name = bytes.byte(at: offset + 6)
        {
            // A text with its length before it, filled up to an even number of bytes.
            let start = offset + 6 + (Int(name) + 2) / 2 * 2
            guard let length = bytes.bigEndian(start, 4),
                length <= bytes.count - start - 4
            else { return nil }
            if number == resourceNumber { return start + 4..<start + 4 + length }
            offset = start + 4 + length + length % 2
        }
        return nil
    }

    /// The data sets that stay; `nil` when none of them says anything of rights.
    private static func kept(of bytes: Slice<UnsafeRawBufferPointer>) -> Data? {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        var result = Data()
        var hasRights = false
        var offset = 0
        // Lengths of 32 KiB and more are written otherwise; no such text is kept.
        while bytes.byte(at: offset) == 0x1C, let length = bytes.bigEndian(offset + 3, 2),
            length < 0x8000, length <= bytes.count - offset - 5
        {
            let name = Array(bytes[offset + 1..<offset + 3])
            let end = offset + 5 + length
            if rights.contains(name) { hasRights = true }
            if rights.contains(name) || name == characters {
                result.append(contentsOf: bytes[offset..<end])
            }
            offset = end
        }
        return hasRights ? result : nil
    }
}
