import CCodecs

/// The properties of a PNG file, from the chunks before its pixels.
///
/// Only common kinds are read: not interlaced, at most 8 bits a sample, no larger than
/// ``largestStream`` when inflated. Initialising throws for all other files and for anything odd
/// about the file; the decoder behind this one judges those.
package struct PNGFile {
    /// The meaning of a pixel's samples; the raw values are those of the file.
    enum ColourType: UInt8 {
        case grey = 0
        case rgb = 2
        case palette = 3
        case greyAlpha = 4
        case rgba = 6

        var samples: Int {
            switch self {
            case .grey, .palette: 1
            case .greyAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    /// Width and height in pixels, as stored.
    package private(set) var width: Int
    package private(set) var height: Int
    let colourType: ColourType
    /// Bits per sample: 1, 2, 4 or 8.
    let depth: Int
    /// Red, green, blue, opacity for each index, grey level or nothing at all; colours that the file does
    /// not have are black and opaque.
    private(set) var palette: [UInt8]?
    private(set) var transparentColour: [UInt8]?
    package private(set) var hasAlpha: Bool
    /// The colour profile, inflated; `nil` when there is none.
    package private(set) var profile: [UInt8]?
    /// The colours that chunks state by numbers; `nil` where the profile wins, and where they are those of
    /// sRGB.
    package private(set) var colours: ColourDescription?
    /// The block of EXIF data; `nil` when there is none.
    package private(set) var exif: [UInt8]?
    /// Where the data of the `IDAT` chunks begins.
    let firstData: Int

    /// The most bytes of inflated rows: larger pictures are better read in strips.
    static let largestStream = 32 << 20
    /// The longest side that readers of PNG take by default.
    static let longestSide = 1_000_000

    package init(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        var chunks = try PNGChunks(bytes)
        let header = try chunks.header()
        try chunks.verify(header.chunk)
        (width, height) = (header.width, header.height)
        let content = header.chunk.content
        depth = Int(content[8])
        guard let type = ColourType(rawValue: content[9]), content[10] == 0, content[11] == 0
        else { throw .damaged("its kind does not exist") }
        colourType = type
        guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height)
        else { throw .unusual("its size") }
        guard content[12] == 0 else { throw .unusual("it is interlaced") }
        let isPacked = type == .grey || type == .palette
        guard depth == 8 || isPacked && (depth == 1 || depth == 2 || depth == 4) else {
            throw .unusual("its depth")
        }
        hasAlpha = type == .greyAlpha || type == .rgba

        var found: [UInt32: UnsafeRawBufferPointer] = [:]
        var chunk = try chunks.next()
        while chunk.type != UInt32(chunk: "IDAT") {
            // Of unknown chunks too: the name may be what is damaged.
            try chunks.verify(chunk)
            if Self.readable.contains(chunk.type) {
                guard found.updateValue(chunk.content, forKey: chunk.type) == nil else {
                    throw .damaged("a chunk stands twice")
                }
                // The palette comes before what refers to it.
                if chunk.type == UInt32(chunk: "PLTE"), found[UInt32(chunk: "tRNS")] != nil {
                    throw .damaged("its chunks are in disorder")
                }
            } else if chunk.isCritical {
                throw .unusual("it has an unknown critical chunk")
            } else if Self.texts.contains(chunk.type),
                chunk.content.hasText("Raw profile type")
            {
                // Some programs use this name for metadata.
                throw .unusual("it has metadata in its text")
            }
            chunk = try chunks.next()
        }
        firstData = chunk.whole.lowerBound

        guard rowBytes + 1 <= Self.largestStream / height else { throw .unusual("its size") }
        try readColours(found)
        profile = try PNGColours.takeProfile(from: &found, isGrey: isGrey)
        colours = PNGColours(found).description
        exif = found[UInt32(chunk: "eXIf")].map { Array($0) }
    }

    /// The description of an animation frame, which differs from the file only in size.
    func sized(width: Int, height: Int) -> PNGFile {
        var file = self
        file.width = width
        file.height = height
        return file
    }

    /// Bytes of a row as stored, without its filter.
    var rowBytes: Int { (width * colourType.samples * depth + 7) / 8 }
    /// Bytes of all rows as stored, with their filters.
    var streamBytes: Int { (rowBytes + 1) * height }
    /// Whether a colour profile for grey would fit.
    package var isGrey: Bool { colourType == .grey || colourType == .greyAlpha }
    /// Channels of the pixels as read: 3, or 4 with opacity.
    package var channels: Int { hasAlpha ? 4 : 3 }

    private static let readable = PNGColours.names.union(
        ["PLTE", "tRNS", "eXIf"].map(UInt32.init(chunk:)))
    private static let texts = Set(["tEXt", "zTXt", "iTXt"].map(UInt32.init(chunk:)))

    private mutating func readColours(
        _ found: [UInt32: UnsafeRawBufferPointer]
    ) throws(CodecRefusal) {
        let transparency = found[UInt32(chunk: "tRNS")]
        switch colourType {
        case .palette:
            guard let colours = found[UInt32(chunk: "PLTE")], colours.count.isMultiple(of: 3),
                (3...3 << depth).contains(colours.count)
            else { throw .damaged("its palette does not fit") }
            var entries = Self.blackPalette
            for (index, byte) in colours.enumerated() {
                entries[index / 3 * 4 + index % 3] = byte
            }
            if let transparency {
                guard (1...colours.count / 3).contains(transparency.count) else {
                    throw .damaged("its opacities do not fit")
                }
                for (index, byte) in transparency.enumerated() {
                    entries[index * 4 + 3] = byte
                }
                hasAlpha = true
            }
            palette = entries
        case .grey:
            guard depth < 8 || transparency != nil else { return }
            let levels = 1 << depth
            var entries = Self.blackPalette
            for level in 0..<levels {
                let grey = UInt8(level * 255 / (levels - 1))
                entries.replaceSubrange(level * 4..<level * 4 + 3, with: [grey, grey, grey])
            }
            if let transparency {
                let key = try Self.samples(of: transparency, count: 1, below: levels)
                entries[Int(key[0]) * 4 + 3] = 0
                hasAlpha = true
            }
            palette = entries
        case .rgb:
            guard let transparency else { return }
            transparentColour = try Self.samples(of: transparency, count: 3, below: 256)
            hasAlpha = true
        case .greyAlpha, .rgba:
            guard transparency == nil else { throw .damaged("it has two kinds of opacity") }
        }
    }

    private static let blackPalette = (0..<1024).map { $0 % 4 == 3 ? 255 : 0 as UInt8 }

    /// The samples of a colour that is transparent, of 16 bits each as stored.
    private static func samples(
        of content: UnsafeRawBufferPointer, count: Int, below limit: Int
    ) throws(CodecRefusal) -> [UInt8] {
        guard content.count == 2 * count else { throw .damaged("its opacities do not fit") }
        let samples = (0..<count).map { Int(content.bigUInt16(2 * $0)) }
        guard samples.allSatisfy({ $0 < limit }) else {
            throw .unusual("its transparent colour does not occur")
        }
        return samples.map { UInt8($0) }
    }
}

extension CodecRefusal {
    static let outOfMemory = CodecRefusal.damaged("there is no memory to read it")
    /// The checksum of a chunk does not match its content.
    package static let wrongChecksum = CodecRefusal.damaged("a checksum is wrong")
}
