import CPNG

/// The chunks of a PNG file, walked before any decoder sees them: a decoder may take as much memory as a
/// chunk claims to be long, or as a stream in it inflates to.
package struct PNGStructure: Equatable, Sendable {
    /// Width and height in pixels, as stored.
    package let width: Int
    package let height: Int
    /// Bits per sample, and samples per pixel as stored.
    package let depth: Int
    package let samples: Int
    /// Whether the rows come in seven passes.
    package let isInterlaced: Bool

    /// The most bytes that all compressed texts and profiles of a file give when they are inflated.
    package static let largestMetadata = 16 << 20
    /// Deflate makes at most so many bytes of one.
    private static let mostInflation = 1032

    /// Walks the chunks up to the end of the image; nothing is inflated that cannot be too large.
    ///
    /// - Throws: When a chunk is longer than the rest of the file, or when ``largestMetadata`` is exceeded.
    ///   What else may be wrong with the file is left to decoders.
    package init(_ bytes: UnsafeRawBufferPointer) throws(PNGRefusal) {
        var chunks = try PNGChunks(bytes)
        let header = try chunks.next()
        guard header.type == UInt32(chunk: "IHDR"), header.range.count == 13 else {
            throw .damaged("it has no header")
        }
        let start = header.range.lowerBound
        width = Int(bytes.bigUInt32(start))
        height = Int(bytes.bigUInt32(start + 4))
        depth = Int(bytes[start + 8])
        samples = PNGFile.ColourType(rawValue: bytes[start + 9])?.samples ?? 4
        isInterlaced = bytes[start + 12] != 0

        var streams: [Range<Int>] = []
        while let chunk = try chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IEND") {
            if let stream = Self.stream(bytes, chunk) { streams.append(stream) }
        }
        try Self.checkInflated(bytes, streams)
    }

    /// Bytes of all rows as stored, with their filters.
    package var streamBytes: Int {
        let (bits, isWide) = width.multipliedReportingOverflow(by: samples * depth)
        let (bytes, isLarge) = ((bits + 7) / 8 + 1).multipliedReportingOverflow(by: height)
        return isWide || isLarge ? .max : bytes
    }

    /// The zlib stream in a chunk of metadata; `nil` for other chunks, and where none can be found.
    private static func stream(
        _ bytes: UnsafeRawBufferPointer, _ chunk: PNGChunks.Chunk
    ) -> Range<Int>? {
        let (range, type) = (chunk.range, chunk.type)
        let isText = type == UInt32(chunk: "iTXt")
        guard isText || type == UInt32(chunk: "zTXt") || type == UInt32(chunk: "iCCP"),
            let keyword = bytes[range].prefix(80).firstIndex(of: 0)
        else { return nil }
        // Behind the keyword: the kind of compression; in iTXt whether there is any before that, and two
        // more texts behind it, each with a zero.
        guard isText else {
            return keyword + 2 < range.upperBound ? keyword + 2..<range.upperBound : nil
        }
        guard keyword + 3 < range.upperBound, bytes[keyword + 1] != 0,
            let language = bytes[keyword + 3..<range.upperBound].firstIndex(of: 0),
            let translated = bytes[language + 1..<range.upperBound].firstIndex(of: 0)
        else { return nil }
        return translated + 1..<range.upperBound
    }

    private static func checkInflated(
        _ bytes: UnsafeRawBufferPointer, _ streams: [Range<Int>]
    ) throws(PNGRefusal) {
        let stored = streams.reduce(0) { $0 + $1.count }
        // So few bytes cannot give too many; ordinary files end here.
        guard stored > largestMetadata / mostInflation else { return }
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: largestMetadata)
        defer { output.deallocate() }
        var room = largestMetadata
        for stream in streams {
            let stored = UnsafeRawBufferPointer(rebasing: bytes[stream])
                .assumingMemoryBound(to: UInt8.self)
            var size = 0
            switch cpng_inflate_up_to(stored.baseAddress, stored.count, output, room, &size) {
            case CPNG_OK: room -= size
            case CPNG_TOO_LONG:
                throw .unusual(
                    "its texts and profiles take more than \(largestMetadata >> 20) MiB inflated")
            case CPNG_NO_MEMORY: throw .outOfMemory
            // Decoders pass over metadata that is damaged. Up to the damage it may be long, though: in
            // the worst case as long as such a stream can be.
            default: room -= min(room, stored.count * mostInflation)
            }
        }
    }
}
