package import Foundation

/// The metadata of a JPEG file, in the segments that EXIF 2.32 (4.7.2), XMP part 3 (1.1.3) and
/// ICC.1 (annex B.4) give it.
package struct JPEGMetadata: Sendable {
    /// With "Exif" and two zeros before it, as read; to be written, also without.
    package var exif: Data?
    package var xmp: Data?
    /// In the image resources of Photoshop, as read; to be written, also alone.
    package var iptc: Data?
    package var profile: Data?

    private static let exifName = Array("Exif\0\0".utf8)
    private static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let profileName = Array("ICC_PROFILE\0".utf8)
    /// The maximum content of a segment, in bytes, behind the two of its length.
    private static let longestContent = 65533

    package init(exif: Data? = nil, xmp: Data? = nil, iptc: Data? = nil, profile: Data? = nil) {
        (self.exif, self.xmp, self.iptc, self.profile) = (exif, xmp, iptc, profile)
    }

    /// The first block of each kind before the pixels of `file`; the profile is not read.
    package init(reading file: Data) {
        file.withUnsafeBytes { bytes in
            var segments = JPEGSegments(bytes)
            while let segment = segments.next(), segment.code != 0xDA {
                let content = segment.content
                switch segment.code {
                case 0xE1 where exif == nil && content.hasText("Exif"):
                    exif = Data(content)
                case 0xE1 where xmp == nil && content.starts(with: Self.xmpName):
                    xmp = Data(content.dropFirst(Self.xmpName.count))
                case 0xED where iptc == nil && content.hasText("Photoshop 3.0\0"):
                    iptc = Data(content)
                default:
                    break
                }
            }
        }
    }

    /// The segments in a row; `nil` when a block is too long for them.
    package var segments: Data? {
        var contents: [(code: UInt8, content: [UInt8])] = []
        if let exif { contents.append((0xE1, Self.exifName + EXIFBlock.bare(exif))) }
        if let xmp { contents.append((0xE1, Self.xmpName + xmp)) }
        if let profile {
            guard let parts = Self.parts(of: profile) else { return nil }
            contents += parts.map { (0xE2, $0) }
        }
        if let iptc { contents.append((0xED, Array(IPTCBlock.asResource(iptc)))) }
        var result = Data()
        for (code, content) in contents {
            guard content.count <= Self.longestContent else { return nil }
            let length = UInt16(content.count + 2)
            result.append(contentsOf: [0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)])
            result.append(contentsOf: content)
        }
        return result
    }

    /// A profile in parts, each with its name, number and the count of all; `nil` for more than can be counted.
    private static func parts(of profile: Data) -> [[UInt8]]? {
        let bytes = Array(profile)
        let most = longestContent - profileName.count - 2
        let count = (bytes.count + most - 1) / most
        guard count <= 255 else { return nil }
        return (0..<count).map { index in
            let part = bytes[(index * most)..<min((index + 1) * most, bytes.count)]
            return profileName + [UInt8(index + 1), UInt8(count)] + part
        }
    }
}

extension EXIFBlock {
    /// Whether a block holds only texts and numbers of its first directory: nothing that would have
    /// to change with the pixels, such as their count and a thumbnail.
    package static func isPlain(_ block: Data) -> Bool {
        let (exifDirectory, positions) = (0x8769, 0x8825)
        return block.withUnsafeBytes { bytes in
            guard let tiff = TIFFBlock(exif: bytes),
                let entries = tiff.entries(ofDirectory: tiff.firstDirectory),
                tiff.number(tiff.firstDirectory + 2 + TIFFBlock.entryLength * entries.count, 4) == 0
            else { return false }
            return entries.allSatisfy { entry in
                guard let tag = tiff.number(entry, 2) else { return false }
                return tag != exifDirectory && tag != positions
            }
        }
    }
}
