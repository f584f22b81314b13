/// The EXIF fields about how a picture was taken (CIPA DC-008). The directory of positions, serial
/// numbers and the names of people are not read.
package struct EXIFFields {
    package let maker: String?
    package let model: String?
    package let lens: String?
    package let software: String?
    /// As the camera writes it: `2024:05:01 18:30:00`.
    package let taken: String?
    /// By how much its clock was ahead of UTC, as `+02:00`.
    package let takenOffset: String?
    /// Seconds.
    package let exposureTime: Double?
    package let aperture: Double?
    package let sensitivity: Int?
    /// Millimetres.
    package let focalLength: Double?

    private static let detailsTag = 0x8769
    /// Entries of a directory that are looked at, and bytes of a text.
    private static let mostEntries = 512
    private static let longestText = 128

    /// `nil` for a block that has no directory.
    package init?(_ block: UnsafeRawBufferPointer) {
        guard let tiff = TIFFBlock(exif: block) else { return nil }
        let first = Directory(tiff, block, at: tiff.firstDirectory)
        guard let first else { return nil }
        let details = first.number(Self.detailsTag).flatMap { Directory(tiff, block, at: $0) }
        maker = first.text(0x010F)
        model = first.text(0x0110)
        software = first.text(0x0131)
        lens = details?.text(0xA434)
        taken = details?.text(0x9003)
        takenOffset = details?.text(0x9011)
        exposureTime = details?.fraction(0x829A)
        aperture = details?.fraction(0x829D)
        sensitivity = details?.number(0x8827)
        focalLength = details?.fraction(0x920A)
    }

    /// The range of a value that does not fit into its entry, in a block that begins with the
    /// header of TIFF.
    package static func value(of tag: Int, in block: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let tiff = TIFFBlock(block),
            let directory = Directory(tiff, block, at: tiff.firstDirectory)
        else { return nil }
        return directory.place(of: tag, lengths: [7: 1, 1: 1])
    }

    /// One directory of a block.
    private struct Directory {
        private let tiff: TIFFBlock
        private let block: UnsafeRawBufferPointer
        private let entries: [Int]

        init?(_ tiff: TIFFBlock, _ block: UnsafeRawBufferPointer, at offset: Int) {
            guard let entries = tiff.entries(ofDirectory: offset) else { return nil }
            self.tiff = tiff
            self.block = block
            self.entries = Array(entries.prefix(mostEntries))
        }

        private func entry(_ tag: Int) -> Int? {
            entries.first { tiff.number($0, 2) == tag }
        }

        func number(_ tag: Int) -> Int? {
            entry(tag).flatMap(tiff.firstInteger)
        }

        /// Where a value of so many bytes for each of its elements, by their type, lies outside of its entry.
        func place(of tag: Int, lengths: [Int: Int]) -> Range<Int>? {
            guard let entry = entry(tag), let type = tiff.number(entry + 2, 2),
                let length = lengths[type], let count = tiff.number(entry + 4, 4),
                count * length > 4, let offset = tiff.number(entry + 8, 4)
            else { return nil }
            return tiff.range(offset, length: count * length)
        }

        func text(_ tag: Int) -> String? {
            guard let entry = entry(tag), tiff.number(entry + 2, 2) == 2 else { return nil }
            let inside = tiff.number(entry + 4, 4).flatMap { count in
                count <= 4 ? tiff.range(entry + 8, length: count) : nil
            }
            guard let place = inside ?? self.place(of: tag, lengths: [2: 1]) else { return nil }
            let bytes = block[place].prefix(longestText).prefix { $0 != 0 }
            // ASCII, says the standard; what is not is left out.
            let text = String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
            let words = text.split(separator: " ").joined(separator: " ")
            return words.isEmpty ? nil : words
        }

        /// A quotient of two numbers.
        func fraction(_ tag: Int) -> Double? {
            guard let entry = entry(tag), tiff.number(entry + 2, 2) == 5,
                let offset = tiff.number(entry + 8, 4), let over = tiff.number(offset, 4),
                let under = tiff.number(offset + 4, 4), under > 0
            else { return nil }
            return Double(over) / Double(under)
        }
    }
}
