/// A block of EXIF data, as the formats carry it.
public enum EXIFBlock {
    private static let orientationTag = 0x0112
    private static let shortType = 3

    /// The orientation, 1…8, of a block with or without "Exif" and two zeros before it; 1 when it has
    /// none. `nil` when the block is odd, so that other readers may find something else in it.
    public static func orientation(in block: UnsafeRawBufferPointer) -> Int? {
        let start = block.hasText("Exif\0\0", at: 0) ? 6 : 0
        guard let tiff = TIFFBlock(block, start: start),
            let count = tiff.number(tiff.firstDirectory, 2)
        else { return nil }
        var orientation: Int?
        for index in 0..<count {
            let entry = tiff.firstDirectory + 2 + TIFFBlock.entryLength * index
            guard let tag = tiff.number(entry, 2) else { return nil }
            guard tag == orientationTag else { continue }
            guard orientation == nil, tiff.number(entry + 2, 2) == shortType,
                tiff.number(entry + 4, 4) == 1, let value = tiff.number(entry + 8, 2),
                (1...8).contains(value)
            else { return nil }
            orientation = value
        }
        return orientation ?? 1
    }

    /// The same of bytes that may be missing, which is orientation 1.
    package static func orientation(ofBlock block: [UInt8]?) -> Int? {
        block.map { $0.withUnsafeBytes { orientation(in: $0) } } ?? 1
    }
}
