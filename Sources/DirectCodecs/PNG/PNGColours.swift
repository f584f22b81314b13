extension ColourDescription {
    /// What the chunk `cICP` before the pixels of a PNG file says; `nil` where there is none that is obeyed.
    package init?(ofPNG bytes: UnsafeRawBufferPointer) {
        // A file that cannot be walked is left to others, who tell what is wrong.
        guard var chunks = try? PNGChunks(bytes) else { return nil }
        while let chunk = try? chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IDAT") {
            guard chunk.type == UInt32(chunk: "cICP"), chunks.isIntact(chunk) else { continue }
            self.init(cICP: UnsafeRawBufferPointer(rebasing: bytes[chunk.range]))
            return
        }
        return nil
    }

    /// What the content of a chunk `cICP` says (PNG, third edition, section 11.3.2.6): code points of primaries and
    /// transfer characteristics, the matrix of RGB, and whether samples have the full range.
    ///
    /// - Returns: `nil` for what is not obeyed, so that the chunks of older editions count: primaries or
    ///   characteristics that are not stated, logarithmic ones, another matrix.
    package init?(cICP content: UnsafeRawBufferPointer) {
        guard content.count == 4, content[2] == 0, content[3] <= 1, content[0] != 2,
            content[1] != 2
        else { return nil }
        self.init(primaries: Int(content[0]), transfer: Int(content[1]))
        isNarrow = content[3] == 0
    }
}
