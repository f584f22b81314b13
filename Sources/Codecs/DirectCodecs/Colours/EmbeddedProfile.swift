package import Foundation

/// The ICC profile in a JPEG, PNG or WebP file.
package enum EmbeddedProfile {
    package typealias Taken = (file: Data, profile: Data)
    /// A file without its profile, so that its samples are read as they are, and the profile that says what
    /// they mean; `nil` when there is none, when it is not one for red, green and blue, and for files of other kinds.
    package static func taken(from file: Data) -> Taken? {
        let taken = file.withUnsafeBytes { bytes -> Taken? in
            if bytes.starts(with: PNGChunks.signature) { return fromPNG(bytes, file) }
            if bytes.bigEndian(0, 2) == 0xFFD8 { return fromJPEG(bytes, file) }
            if bytes.hasText("RIFF"), bytes.hasText("WEBP", at: 8) {
                return fromWebP(bytes, file)
            }
            return nil
        }
        guard let taken, taken.profile.count > 128,
            taken.profile.dropFirst(16).prefix(4).elementsEqual("RGB ".utf8)
        else { return nil }
        return taken
    }

    private static func fromJPEG(_ bytes: UnsafeRawBufferPointer, _ file: Data) -> Taken? {
        guard let header = JPEGHeader(bytes), !header.isGrey, let profile = header.profile else {
            return nil
        }
        var segments = JPEGSegments(bytes)
        var dropped: [Range<Int>] = []
        while let segment = segments.next(), segment.code != 0xDA {
            if segment.code == 0xE2, segment.content.hasText("ICC_PROFILE\0") {
                dropped.append(segment.start..<segment.end)
            }
        }
        return (file: file.without(dropped), profile: Data(profile))
    }

    private static func fromPNG(_ bytes: UnsafeRawBufferPointer, _ file: Data) -> Taken? {
        // A file that cannot be read here is left to others, who tell what is wrong.
        guard let read = try? PNGFile(bytes), read.colours == nil, let profile = read.profile,
            var chunks = try? PNGChunks(bytes)
        else { return nil }
        // Those that say less of colours than the profile does go with it.
        let names = [UInt32(chunk: "iCCP"), UInt32(chunk: "gAMA"), UInt32(chunk: "cHRM")]
        var dropped: [Range<Int>] = []
        while let chunk = try? chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IDAT") {
            if names.contains(chunk.type) { dropped.append(chunk.whole) }
        }
        return (file: file.without(dropped), profile: Data(profile))
    }

    private static func fromWebP(_ bytes: UnsafeRawBufferPointer, _ file: Data) -> Taken? {
        guard let profile = try? WebPFile(bytes).profile else { return nil }
        let dropped = WebPChunks(bytes, 12..<bytes.count).filter { $0.name == "ICCP" }
            .map { $0.whole.clamped(to: 0..<bytes.count) }
        var result = file.without(dropped)
        // The mark for a profile in the header of the extended format, and the length of the whole.
        if bytes.hasText("VP8X", at: 12), bytes.count > 20 { result[20] &= ~0x20 }
        result.setRIFFLength()
        return (file: result, profile: Data(profile))
    }
}

extension Data {
    /// A copy that begins at 0, without the bytes in these places, which are in ascending order.
    func without(_ ranges: [Range<Int>]) -> Data {
        var result = Data(self)
        for range in ranges.reversed() { result.removeSubrange(range) }
        return result
    }
}
