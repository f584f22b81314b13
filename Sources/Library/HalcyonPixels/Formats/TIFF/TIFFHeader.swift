import DirectCodecs
package import Foundation

/// The first directory of a TIFF file (TIFF 6.0, and BigTIFF): what of it libvips does not read, or reads
/// as another picture than it is.
struct TIFFHeader {
    /// The first values of each tag whose values are short or long integers: more than a few are never asked for.
    private var values: [Int: [Int]] = [:]
    /// Where these begin, and the bytes of each.
    private var places: [Int: (start: Int, length: Int, count: Int)] = [:]
    private let isLittleEndian: Bool
    /// Whether the directory and the values it points to are all there.
    private(set) var isComplete = true

    /// `nil` when there is no directory.
    init?(_ data: Data) {
        guard let header = data.withUnsafeBytes({ TIFFHeader($0) }) else { return nil }
        self = header
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let tiff = TIFFBlock(bytes, isFile: true),
            let entries = tiff.entries(ofDirectory: tiff.firstDirectory)
        else { return nil }
        isLittleEndian = tiff.isLittleEndian
        for entry in entries.prefix(4096) {
            guard let tag = tiff.number(entry, 2) else {
                isComplete = false
                break
            }
            values[tag] = tiff.integers(of: entry, atMost: 8)
            places[tag] = tiff.placeOfIntegers(of: entry)
            if values[tag] == nil, Self.asked.contains(tag) { isComplete = false }
        }
    }

    /// Sides, bits per sample, orientation and extra samples.
    private static let asked: Set<Int> = [256, 257, 258, 274, 338]

    /// As stored; `nil` when it is not told.
    var size: PixelSize? {
        guard let width = first(256), let height = first(257) else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The EXIF orientation of the stored pixels, 1…8.
    var orientation: Int { first(274).flatMap { 1...8 ~= $0 ? $0 : nil } ?? 1 }

    var depth: Int? { bitsPerSample.first }

    private func first(_ tag: Int) -> Int? { values[tag]?.first }

    private var bitsPerSample: [Int] { values[258] ?? [1] }
    private var compression: Int { first(259) ?? 1 }
    private var photometric: Int? { first(262) }
    private var samplesPerPixel: Int { first(277) ?? 1 }
    private var rowsPerStrip: Int { first(278) ?? .max }
    private var hasSeparatePlanes: Bool { first(284) == 2 }
    private var isTiled: Bool { values[322] != nil }
    private var tileSize: PixelSize { PixelSize(width: first(322) ?? 0, height: first(323) ?? 0) }
    private var inkSet: Int { first(332) ?? 1 }
    private var inkCount: Int? { first(334) }
    /// The meaning of the samples behind those of colour, as far as it is stated: 1 and 2 are opacity.
    private var extraSamples: [Int] { values[338] ?? [] }
    private var sampleFormats: [Int] { values[339] ?? [1] }
    /// The chroma subsampling, across and down.
    private var subsampling: [Int] { values[530] ?? [2, 2] }

    /// Why this kind of TIFF cannot be read, or `nil` when it can, as far as the header tells.
    var refusal: String? {
        if compression == 6 { return "it is compressed with old-style JPEG" }
        guard Self.compressions.contains(compression) else {
            return "its compression \(compression) is not read"
        }
        if let depth = bitsPerSample.first(where: { ![1, 2, 4, 8, 16, 32, 64].contains($0) }) {
            return "\(depth) bits per sample are not read"
        }
        if Set(bitsPerSample).count > 1 {
            return "samples of several depths in one pixel are not read"
        }
        if Set(sampleFormats).count > 1 {
            return "samples of several kinds in one pixel are not read"
        }
        if let refusal = formatRefusal { return refusal }
        if isTiled, hasSeparatePlanes { return "tiles in separate planes are not read" }
        return photometricRefusal
    }

    private var formatRefusal: String? {
        let depth = bitsPerSample.first ?? 1
        switch sampleFormats.first {
        case 2 where depth > 16, 1 where depth > 16, 4 where depth > 16:
            return "integer samples of \(depth) bits are not read"
        case 3 where depth < 32:
            return "floating-point samples of \(depth) bits are not read"
        case 5, 6:
            return "complex samples are not read"
        default:
            return nil
        }
    }

    private var photometricRefusal: String? {
        switch photometric {
        // JPEG brings its own way from YCbCr to RGB.
        case 6 where compression != 7:
            return subsampling.prefix(2).allSatisfy { $0 == 1 }
                ? "colours as YCbCr are not read without JPEG"
                : "colours of lower resolution than brightness are not read without JPEG"
        case 0, 1:
            return extraCount >= Self.fewestMeasurements && alphaIndex == nil
                ? "it has \(samplesPerPixel) bands, and only of the first it says what it shows"
                : nil
        case 4: return "it is a mask of transparency"
        case 5:
            return colourCount == 4
                ? nil : "its colours are \(colourCount) inks, which are not read"
        case 8, 9:
            let isRead = [8, 16].contains(depth) || depth == 32 && sampleFormats.first == 3
            return isRead && samplesPerPixel >= 3
                ? nil : "this kind of CIE L*a*b* is not read"
        case 10: return "its colours are ITULAB, which is not read"
        case 32803, 34892: return "it is raw data of a camera"
        default: return nil
        }
    }

    /// None, the three of fax, LZW, JPEG, deflate twice, PackBits, those of fax and of Thunderscan and
    /// NeXT, PixarLog, SGI's of light, LERC, LZMA, Zstandard, WebP, and JBIG.
    private static let compressions: Set<Int> = [
        1, 2, 3, 4, 5, 7, 8, 32773, 32946, 32771, 32809, 32766, 32909, 34676, 34677, 34887, 34925,
        50000, 50001, 34661,
    ]
}

extension TIFFHeader {
    /// The encoding of the three numbers of CIE L*a*b*.
    enum Lab {
        /// TIFF 6.0, section 23: a* and b* have a sign.
        case signed
        /// As in ICC profiles: a* and b* have none, and 128 added.
        case unsigned
    }

    /// `nil` for colours of other kinds.
    var lab: Lab? {
        switch photometric {
        case 8: .signed
        case 9: .unsigned
        default: nil
        }
    }

    /// Grey pictures with so many more bands, none of which is opacity, are measurements.
    private static let fewestMeasurements = 4

    private var colourCount: Int {
        switch photometric {
        case 2, 6, 8, 9, 10: 3
        case 5:
            inkSet == 2 ? inkCount ?? samplesPerPixel - extraSamples.count : min(4, samplesPerPixel)
        case 0, 1, 3, 4: 1
        default: samplesPerPixel
        }
    }

    var extraCount: Int { max(0, samplesPerPixel - colourCount) }

    /// Which of the samples behind those of colour is opacity; `nil` when none is. One of which nothing at all is
    /// said is, for all readers; one that is said to be without a meaning is not.
    var alphaIndex: Int? {
        guard !extraSamples.isEmpty else { return extraCount == 1 ? 0 : nil }
        return extraSamples.prefix(extraCount).firstIndex { $0 == 1 || $0 == 2 }
    }

    var hasAlpha: Bool { alphaIndex != nil }

    var isPremultiplied: Bool { alphaIndex.map { extraSamples.dropFirst($0).first == 1 } ?? false }

    /// The file with its samples said to be red, green, blue and separate opacity, so that they are read as they
    /// are stored.
    func withPlainSamples(_ file: Data) -> Data {
        var result = Data(file)
        func storeTwo(_ tag: Int, _ index: Int) {
            guard let (start, length, _) = places[tag] else { return }
            for offset in 0..<length {
                let isLowest = offset == (isLittleEndian ? 0 : length - 1)
                result[result.startIndex + start + index * length + offset] = isLowest ? 2 : 0
            }
        }
        storeTwo(262, 0)
        for (index, meaning) in extraSamples.enumerated() where meaning == 1 {
            storeTwo(338, index)
        }
        return result
    }

    /// Bytes of the strips or tiles that libvips has in memory at a time: two rows of tiles and the one that is
    /// being decoded; or a strip, if it does not read it row by row.
    var heldBytes: Int {
        guard let size else { return 0 }
        if isTiled {
            let rows = min(size.height, tileSize.height.clampedTimes(2))
            return bytes(size.width, rows).clampedPlus(bytes(tileSize.width, tileSize.height))
        }
        let rows = min(size.height, rowsPerStrip)
        let isReadByRows =
            rows > 128 && !hasSeparatePlanes && photometric != 6
            && !Self.wholeStripCompressions.contains(compression)
        return isReadByRows ? 0 : bytes(size.width, rows)
    }

    private func bytes(_ width: Int, _ height: Int) -> Int {
        let bits = samplesPerPixel.clampedTimes(max(8, depth ?? 8))
        return width.clampedTimes(height).clampedTimes(bits / 8)
    }

    /// LERC and WebP, of which libtiff decodes no row alone.
    private static let wholeStripCompressions: Set<Int> = [34887, 50001]
}

extension ImageInformation {
    /// Reads the first directory, which may stand anywhere in the file.
    static func ofTIFF(_ file: FilePart) -> ImageInformation? {
        guard let header = TIFFHeader(file.bytes), let stored = header.size else { return nil }
        guard header.isComplete || file.isWhole else { return nil }
        var information = ImageInformation(.TIFF, size: stored.turned(by: header.orientation))
        information.orientation = header.orientation
        information.frameCount = 1
        information.bitsPerSample = header.depth
        information.hasAlpha = header.hasAlpha
        information.camera = Camera(exif: file.bytes)
        information.hasGainMap = false
        information.isComplete = header.isComplete
        if let place = EXIFDirectory.value(of: 34675, in: file.bytes) {
            let profile = UnsafeRawBufferPointer(rebasing: file.bytes[place])
            information.colorProfile = .icc(name: ProfileName.of(profile))
        }
        return information
    }
}

extension ImageInformation {
    /// The frames of a file, of TIFF its pages: copies of lower resolution and masks of transparency are none.
    package static func countPictures(in file: Data) -> Int {
        guard ImageSniffer.format(of: file) == .TIFF else {
            // A file that cannot be read has no more than one that counts.
            return (try? ImageInformation(of: file))?.frameCount ?? 1
        }
        return file.withUnsafeBytes { bytes in
            guard let tiff = TIFFBlock(bytes, isFile: true) else { return 1 }
            var (pages, seen) = (0, Set<Int>())
            var next: Int? = tiff.firstDirectory
            while let place = next, seen.count < 1 << 16, seen.insert(place).inserted,
                let entries = tiff.entries(ofDirectory: place)
            {
                // They are in the order of their tags.
                let kind =
                    entries.prefix(8).first { tiff.number($0, 2) == 254 }
                    .flatMap { tiff.integers(of: $0, atMost: 1)?.first } ?? 0
                if kind & 0b101 == 0 { pages += 1 }
                next = tiff.directory(after: place)
            }
            return max(1, pages)
        }
    }
}
