/// The directory of EXIF data that tells where a picture was taken (CIPA DC-008, section 4.6.6).
enum GPSDirectory {
    private static let pointerTag = 0x8825
    /// LONG, and IFD.
    private static let pointerTypes = [4, 13]
    /// Its entries have the tags 0…31.
    private static let mostEntries = 32
    /// Longer values are no positions, and might be something else.
    private static let longestValue = 4096
    /// Pages of a TIFF file that are looked at, and entries of each.
    private static let mostDirectories = 64
    private static let mostEntriesOfPage = 512

    /// The edits that remove the directory from the block of TIFF data with its header at `header`.
    /// Nothing is moved but the entries behind the one that points at it.
    static func edits(in bytes: UnsafeRawBufferPointer, header: Int) -> [ByteEdit] {
        guard let block = TIFFBlock(bytes, start: header) else { return [] }
        var edits: [ByteEdit] = []
        var directory = block.firstDirectory
        for _ in 0..<mostDirectories where directory != 0 {
            guard let entries = block.entries(ofDirectory: directory),
                entries.count <= mostEntriesOfPage,
                let range = block.range(directory, length: length(entries.count) + 4)
            else { break }
            edits += Self.edits(in: bytes, block, Array(entries), range)
            directory = block.number(directory + length(entries.count), 4) ?? 0
        }
        return edits
    }

    private static func edits(
        in bytes: UnsafeRawBufferPointer, _ block: TIFFBlock, _ entries: [Int],
        _ range: Range<Int>
    ) -> [ByteEdit] {
        let pointers = entries.filter { entry in
            block.number(entry, 2) == pointerTag
                && block.number(entry + 2, 2).map(pointerTypes.contains) == true
                && block.number(entry + 4, 4) == 1
        }
        if pointers.isEmpty { return [] }
        // What other entries say stays, wherever a pointer points.
        let kept =
            [range]
            + entries.filter { !pointers.contains($0) }.compactMap {
                value(of: $0, in: block)
            }
        let cleared = pointers.flatMap { pointer in
            block.number(pointer + 8, 4).map { ranges(ofDirectoryAt: $0, in: block) } ?? []
        }.filter { range in !kept.contains { $0.overlaps(range) } }

        // The directory without the pointers, and zeros behind it.
        let rest =
            entries.filter { !pointers.contains($0) }
            .compactMap { block.range($0, length: TIFFBlock.entryLength) }
            + [range.upperBound - 4..<range.upperBound]
        let content =
            block.stored(entries.count - pointers.count, 2) + rest.flatMap { bytes[$0] }
        let padding = Array(repeating: UInt8(0), count: range.count - content.count)
        return [ByteEdit(range, content + padding)] + cleared.map { ByteEdit($0, filling: 0) }
    }

    /// The directory and the values that are not in it; none when it is no GPS directory.
    private static func ranges(ofDirectoryAt offset: Int, in block: TIFFBlock) -> [Range<Int>] {
        guard let entries = block.entries(ofDirectory: offset),
            (1...mostEntries).contains(entries.count),
            let own = block.range(offset, length: length(entries.count))
        else { return [] }
        guard entries.allSatisfy({ block.number($0, 2).map { $0 < mostEntries } ?? false }) else {
            return []
        }
        return [own]
            + entries.compactMap { value(of: $0, in: block) }
            .filter { $0.count <= longestValue }
    }

    /// The range of an entry's value, if it is not in the entry.
    private static func value(of entry: Int, in block: TIFFBlock) -> Range<Int>? {
        block.valueLength(of: entry) ?? 0 > 4 ? block.value(of: entry) : nil
    }

    /// Bytes of a directory up to the offset of the next one.
    private static func length(_ count: Int) -> Int { 2 + TIFFBlock.entryLength * count }
}
