import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the segments up to the first scan: the orientation may stand in any of them.
    static func ofJPEG(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        var found = JPEGFindings()
        var segments = JPEGSegments(file.bytes)
        var hasScan = false
        while !hasScan, let segment = segments.next() {
            hasScan = segment.code == 0xDA
            found.take(segment)
        }
        guard hasScan || file.isWhole, let frame = found.frame else {
            if hasScan { throw .corrupt(.JPEG, reason: "it has no frame before its pixels") }
            return nil
        }
        var information = found.information
        information.size = frame.size.turned(by: information.orientation)
        information.frameCount = 1
        information.bitsPerSample = frame.precision
        information.hasAlpha = false
        information.jpegQuality = found.quality
        information.hasGainMap = found.hasGainMap(in: file)
        information.isComplete = hasScan && information.hasGainMap != nil
        return information
    }
}

/// The findings from the segments before the pixels of a JPEG file.
private struct JPEGFindings {
    private(set) var frame: JPEGFrame?
    private(set) var information = ImageInformation(.JPEG)
    private var tables: [Int: [Int]] = [:]
    private var hasEXIF = false
    private var saysGainMap = false
    /// The offsets of further pictures in the file, and the address that they are relative to.
    private var pictures: (offsets: [Int], base: UnsafeRawBufferPointer)?

    mutating func take(_ segment: JPEGSegments.Segment) {
        let content = segment.content
        if frame == nil, let found = JPEGFrame(segment) { frame = found }
        switch segment.code {
        case 0xDB:
            readTables(content)
        case 0xE1 where content.hasText("Exif"):
            if information.camera == nil {
                information.camera = ImageInformation.Camera(exif: content)
            }
            // Of several blocks the first counts, as for libvips.
            if !hasEXIF { information.orientation = EXIFBlock.orientation(in: content) ?? 1 }
            hasEXIF = true
        case 0xE1 where content.hasText("http://ns.adobe.com/xap/1.0/"):
            if Self.namesGainMap(content) { saysGainMap = true }
        case 0xE2 where content.hasText("ICC_PROFILE\0"):
            // The name may stand in a later part of a long profile; then it is not told.
            if information.colorProfile == nil {
                let profile = content.slice(14, count: content.count - 14)
                information.colorProfile = .icc(name: profile.flatMap(ProfileName.of))
            }
        case 0xE2 where content.hasText("urn:iso:std:iso:ts:21496:-1\0"):
            saysGainMap = true
        case 0xE2 where content.hasText("MPF\0"):
            let block = UnsafeRawBufferPointer(rebasing: content.dropFirst(4))
            pictures = (MultiPictureIndex.offsets(in: block), block)
        default:
            break
        }
    }

    /// The quality at which libjpeg would have made the table of the first component.
    var quality: Int? {
        guard let table = frame.flatMap({ tables[$0.components.first?.quantizer ?? 0] }) else {
            return nil
        }
        return JPEGQuality.nearest(to: table)
    }

    /// `nil` when the bytes do not reach to where it would be told.
    func hasGainMap(in file: FilePart) -> Bool? {
        if saysGainMap { return true }
        guard let pictures, let start = file.bytes.baseAddress, let base = pictures.base.baseAddress
        else { return false }
        for offset in pictures.offsets {
            let place = base - start + offset
            guard place < file.bytes.count else { return file.isWhole ? false : nil }
            var segments = JPEGSegments(UnsafeRawBufferPointer(rebasing: file.bytes[place...]))
            while let segment = segments.next(), segment.code != 0xDA {
                if (0xE1...0xE2).contains(segment.code), Self.namesGainMap(segment.content) {
                    return true
                }
            }
        }
        return false
    }

    /// Adobe's XMP for gain maps, Apple's, and ISO 21496-1.
    private static func namesGainMap(_ content: UnsafeRawBufferPointer) -> Bool {
        [
            "http://ns.adobe.com/hdr-gain-map/1.0/", "http://ns.apple.com/HDRGainMap/1.0/",
            "urn:iso:std:iso:ts:21496:-1",
        ].contains { content.containsText($0) }
    }

    /// Tables of 64 numbers in 8 or 16 bits.
    private mutating func readTables(_ content: UnsafeRawBufferPointer) {
        var offset = 0
        while let kind = content.byte(at: offset) {
            let length = kind >> 4 == 0 ? 1 : 2
            guard content.slice(offset + 1, count: 64 * length) != nil else { return }
            tables[Int(kind & 15)] = (0..<64).compactMap {
                content.bigEndian(offset + 1 + $0 * length, length)
            }
            offset += 1 + 64 * length
        }
    }
}

/// The index of the pictures in a file (CIPA DC-007, section 5).
private enum MultiPictureIndex {
    private static let entriesTag = 0xB002
    private static let most = 16

    /// Where the pictures behind the first begin, counted from the start of the index.
    static func offsets(in block: UnsafeRawBufferPointer) -> [Int] {
        guard let place = EXIFDirectory.value(of: entriesTag, in: block) else { return [] }
        let isLittle = block.first == 0x49
        return (1..<max(1, min(most, place.count / 16))).compactMap { index in
            let offset = place.lowerBound + 16 * index + 8
            return block.integer(at: offset, length: 4, littleEndian: isLittle)
                .flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

enum JPEGQuality {
    /// The table for brightness at quality 50 (ITU-T T.81, K.1), in the order of the file.
    private static let standard = [
        16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35,
        37, 29, 40, 58, 51, 61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109,
        81, 87, 95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99,
    ]

    /// The quality, 1…100, whose table differs least from `table`; of several the highest.
    static func nearest(to table: [Int]) -> Int? {
        guard table.count == standard.count else { return nil }
        var (nearest, least) = (100, Int.max)
        for quality in (1...100).reversed() {
            let difference = difference(table, quality, within: least)
            if difference < least { (nearest, least) = (quality, difference) }
        }
        return nearest
    }

    /// The sum of the differences, or of as many as exceed `limit`.
    private static func difference(_ table: [Int], _ quality: Int, within limit: Int) -> Int {
        let scale = quality < 50 ? 5000 / quality : 200 - 2 * quality
        var (sum, index) = (0, 0)
        while index < standard.count, sum < limit {
            sum += abs(table[index] - min(max((standard[index] * scale + 50) / 100, 1), 255))
            index += 1
        }
        return sum
    }
}
