package import Foundation

/// What EXIF data says of who made a picture and who may use it.
extension EXIFBlock {
    private static let artistTag = 0x013B
    private static let copyrightTag = 0x8298
    private static let textType = 2
    /// Longer texts are left out.
    private static let longestText = 8 << 10

    /// A block with nothing but the author and the copyright notice of `block`; `nil` when it names
    /// neither.
    package static func rights(of block: Data) -> Data? {
        let texts = block.withUnsafeBytes { bytes in
            [artistTag, copyrightTag].compactMap { tag in
                text(of: tag, in: bytes).map { (tag, $0) }
            }
        }
        return texts.isEmpty ? nil : self.block(of: texts)
    }

    private static func text(of tag: Int, in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let tiff = TIFFBlock(exif: bytes),
            let entries = tiff.entries(ofDirectory: tiff.firstDirectory),
            let entry = entries.first(where: {
                tiff.number($0, 2) == tag && tiff.number($0 + 2, 2) == textType
            }), let count = tiff.number(entry + 4, 4), (1...longestText).contains(count)
        else { return nil }
        // Four bytes fit into the entry itself.
        let place = count <= 4 ? entry + 8 : tiff.number(entry + 8, 4)
        guard let place, let range = tiff.range(place, length: count) else { return nil }
        // Behind the text of the photographer there may be a zero and that of the editor.
        let text = Array(bytes[range])
        return text.allSatisfy { $0 == 0 || $0 == 0x20 } ? nil : text
    }

    /// A block with one directory of texts, little-endian (TIFF 6.0, section 2).
    private static func block(of texts: [(tag: Int, text: [UInt8])]) -> Data {
        var block = Data("Exif\0\0II*\0".utf8)
        let headerLength = 8
        block.append(number: headerLength, length: 4)
        block.append(number: texts.count, length: 2)
        var place = headerLength + 2 + TIFFBlock.entryLength * texts.count + 4
        var behind = Data()
        for (tag, text) in texts {
            block.append(number: tag, length: 2)
            block.append(number: textType, length: 2)
            block.append(number: text.count, length: 4)
            if text.count <= 4 {
                block.append(contentsOf: text + Array(repeating: 0, count: 4 - text.count))
            } else {
                block.append(number: place, length: 4)
                // Values begin at even offsets.
                behind.append(contentsOf: text)
                if !text.count.isMultiple(of: 2) { behind.append(0) }
                place += text.count + text.count % 2
            }
        }
        block.append(number: 0, length: 4)
        return block + behind
    }
}

extension Data {
    /// Little-endian.
    fileprivate mutating func append(number: Int, length: Int) {
        append(contentsOf: (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}
