/// A directory of EXIF data (CIPA DC-008).
package struct EXIFDirectory {
    private let tiff: TIFFBlock
    private let block: UnsafeRawBufferPointer
    private let entries: [Int]

    /// Entries that are looked at, and bytes of a text.
    private static let mostEntries = 512
    private static let longestText = 128

    /// The first directory of a block; `nil` when it has none.
    package init?(_ block: UnsafeRawBufferPointer) {
        guard let tiff = TIFFBlock(exif: block) else { return nil }
        self.init(tiff, block, at: tiff.firstDirectory)
    }

    private init?(_ tiff: TIFFBlock, _ block: UnsafeRawBufferPointer, at offset: Int) {
        guard let entries = tiff.entries(ofDirectory: offset) else { return nil }
        self.tiff = tiff
        self.block = block
        self.entries = Array(entries.prefix(Self.mostEntries))
    }

    /// The range of a value that does not fit into its entry, in a block that begins with the
    /// header of TIFF.
    package static func value(of tag: Int, in block: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let tiff = TIFFBlock(block),
            let entry = EXIFDirectory(tiff, block, at: tiff.firstDirectory)?.entry(tag),
            let type = tiff.number(entry + 2, 2), type == 7 || type == 1,
            let length = tiff.valueLength(of: entry), length > 4
        else { return nil }
        return tiff.value(of: entry)
    }

    package func directory(_ tag: Int) -> EXIFDirectory? {
        number(tag).flatMap { EXIFDirectory(tiff, block, at: $0) }
    }

    private func entry(_ tag: Int) -> Int? {
        entries.first { tiff.number($0, 2) == tag }
    }

    package func number(_ tag: Int) -> Int? {
        entry(tag).flatMap { tiff.integers(of: $0, atMost: 1)?.first }
    }

    package func text(_ tag: Int) -> String? {
        guard let entry = entry(tag), tiff.number(entry + 2, 2) == 2,
            let place = tiff.value(of: entry)
        else { return nil }
        let bytes = block[place].prefix(Self.longestText).prefix { $0 != 0 }
        // ASCII, says the standard; what is not is left out.
        let text = String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
        let words = text.split(separator: " ").joined(separator: " ")
        return words.isEmpty ? nil : words
    }

    package func fraction(_ tag: Int) -> Double? {
        guard let entry = entry(tag), tiff.number(entry + 2, 2) == 5,
            let offset = tiff.number(entry + 8, 4), let over = tiff.number(offset, 4),
            let under = tiff.number(offset + 4, 4), under > 0
        else { return nil }
        return Double(over) / Double(under)
    }
}
