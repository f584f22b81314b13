import CCodecs

/// The chunks of a PNG file that say what its colours mean, and which of them counts (PNG, third edition,
/// section 4.3): `cICP`, then `iCCP`, then `sRGB`, then `gAMA` and `cHRM` together.
struct PNGColours {
    private let contents: [UInt32: UnsafeRawBufferPointer]

    static let names = Set(["cICP", "iCCP", "sRGB", "gAMA", "cHRM"].map(UInt32.init(chunk:)))

    /// - Parameter contents: Those of chunks by their names, others too.
    init(_ contents: [UInt32: UnsafeRawBufferPointer]) {
        self.contents = contents
    }

    /// The colours that chunks state by numbers; `nil` where a profile wins, and where they say that colours
    /// are those of sRGB, or nothing.
    var description: ColourDescription? {
        if let content = contents[UInt32(chunk: "cICP")],
            let found = ColourDescription(cICP: content)
        {
            return found
        }
        guard contents[UInt32(chunk: "iCCP")] == nil, contents[UInt32(chunk: "sRGB")] == nil else {
            return nil
        }
        let exponent = contents[UInt32(chunk: "gAMA")].flatMap(Self.exponent)
        let primaries = contents[UInt32(chunk: "cHRM")].flatMap(Self.primaries) ?? .sRGB
        guard primaries == .sRGB else {
            return ColourDescription(
                primaries: primaries, transfer: exponent.map { .gamma($0) } ?? .sRGB)
        }
        // So the curve of sRGB is written for readers that know no other chunk.
        guard let exponent, abs(1 / exponent - 0.45455) > 0.006 else { return nil }
        return ColourDescription(primaries: .sRGB, transfer: .gamma(exponent))
    }

    /// Profiles in use have a few kilobytes.
    private static let largestProfile = 128 << 10

    /// The profile in these chunks. One that cannot be read, or is not for these samples, is removed from them: it
    /// does not count.
    ///
    /// - Throws: For a profile that is longer than usual.
    static func takeProfile(
        from contents: inout [UInt32: UnsafeRawBufferPointer], isGrey: Bool
    ) throws(CodecRefusal) -> [UInt8]? {
        guard let content = contents[UInt32(chunk: "iCCP")] else { return nil }
        let profile = try profile(in: content, isGrey: isGrey)
        if profile == nil { contents[UInt32(chunk: "iCCP")] = nil }
        return profile
    }

    /// The profile of an `iCCP` chunk: a name, a zero, the kind of compression, a zlib stream.
    private static func profile(
        in content: UnsafeRawBufferPointer, isGrey: Bool
    ) throws(CodecRefusal) -> [UInt8]? {
        guard let end = content.prefix(80).firstIndex(of: 0), end + 2 < content.count,
            content[end + 1] == 0
        else { return nil }
        let stream = UnsafeRawBufferPointer(rebasing: content[(end + 2)...])
            .assumingMemoryBound(to: UInt8.self)
        var result = cpng_result(rawValue: 0)
        let profile = [UInt8](unsafeUninitializedCapacity: largestProfile) { output, size in
            result = cpng_inflate(
                stream.baseAddress, stream.count, output.baseAddress, largestProfile, &size)
            if result != CPNG_OK { size = 0 }
        }
        guard result != CPNG_TOO_LONG, result != CPNG_NO_MEMORY else {
            throw .unusual("its profile is longer than usual")
        }
        return profile.withUnsafeBytes { bytes in
            bytes.count >= 132 && bytes.hasText("acsp", at: 36)
                && bytes.hasText(isGrey ? "GRAY" : "RGB ", at: 16)
        } ? profile : nil
    }

    private static let unit = 100_000.0

    /// The power of a sample that its light is, as `gAMA` says it; `nil` for those that no picture can have,
    /// as for libpng.
    private static func exponent(_ content: UnsafeRawBufferPointer) -> Double? {
        guard content.count == 4 else { return nil }
        let gamma = content.bigUInt32(0)
        return (16...625_000_000).contains(gamma) ? unit / Double(gamma) : nil
    }

    /// The chromaticities of white, red, green and blue; `nil` for what are no primaries.
    private static func primaries(
        _ content: UnsafeRawBufferPointer
    ) -> ColourDescription.Primaries? {
        guard content.count == 32 else { return nil }
        let points = (0..<4).map { index in
            SIMD2(
                Double(content.bigUInt32(8 * index)) / unit,
                Double(content.bigUInt32(8 * index + 4)) / unit)
        }
        let (red, green, blue) = (points[1] - points[3], points[2] - points[3], points[3])
        let area = abs(red.x * green.y - red.y * green.x) / 2
        guard points.allSatisfy({ $0.x <= 1 && $0.y <= 1 && $0.x + $0.y <= 1.001 }),
            points[0].y > 0.01, area > 0.001
        else { return nil }
        let found = ColourDescription.Primaries(
            red: points[1], green: points[2], blue: blue, white: points[0])
        return found.isClose(to: .sRGB) ? .sRGB : found
    }
}

extension ColourDescription.Primaries {
    /// Whether all chromaticities are the same but for how they are rounded.
    fileprivate func isClose(to other: Self) -> Bool {
        [
            red - other.red, green - other.green, blue - other.blue, white - other.white,
        ].allSatisfy { abs($0.x) < 0.002 && abs($0.y) < 0.002 }
    }
}

extension ColourDescription {
    /// The colours that the chunks before a PNG file's pixels state by numbers; `nil` where nothing in them
    /// is obeyed, and where a profile counts more.
    package init?(ofPNG bytes: UnsafeRawBufferPointer) {
        // A file that cannot be walked is left to others, who tell what is wrong.
        guard var chunks = try? PNGChunks(bytes) else { return nil }
        var contents: [UInt32: UnsafeRawBufferPointer] = [:]
        while let chunk = try? chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IDAT") {
            // Of several of a kind the first counts.
            guard PNGColours.names.contains(chunk.type), contents[chunk.type] == nil,
                chunks.isIntact(chunk)
            else { continue }
            contents[chunk.type] = chunk.content
        }
        // A long one counts.
        _ = try? PNGColours.takeProfile(from: &contents, isGrey: bytes.isGreyPNG)
        guard let description = PNGColours(contents).description else { return nil }
        self = description
    }

    /// Reads the content of a `cICP` chunk (PNG, third edition, section 11.3.2.6): code points of
    /// primaries and transfer characteristics, the matrix of RGB, and whether samples have the full
    /// range.
    ///
    /// - Returns: `nil` for content that is ignored, so that the chunks of older editions count:
    ///   unspecified primaries or characteristics, logarithmic ones, another matrix.
    package init?(cICP content: UnsafeRawBufferPointer) {
        guard content.count == 4, content[2] == 0, content[3] <= 1, content[0] != 2,
            content[1] != 2
        else { return nil }
        self.init(primaries: Int(content[0]), transfer: Int(content[1]))
        isNarrow = content[3] == 0
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the pixels of a PNG file have no colours: its colour type says so, if it has one.
    fileprivate var isGreyPNG: Bool { (byte(at: 25) ?? 0) & 2 == 0 }

    /// Whether a PNG file's `iCCP` chunk with this content counts.
    package func isProfile(ofPNG file: UnsafeRawBufferPointer) -> Bool {
        var chunks = [UInt32(chunk: "iCCP"): self]
        _ = try? PNGColours.takeProfile(from: &chunks, isGrey: file.isGreyPNG)
        return !chunks.isEmpty
    }
}
