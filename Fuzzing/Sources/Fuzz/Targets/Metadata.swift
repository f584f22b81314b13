import Foundation
import Vips

@testable import DirectCodecs
@testable import HalcyonPixels

extension FuzzTarget {
    /// What is beside the pixels: positions that are removed, who has rights, profiles of colours.
    static let metadata = FuzzTarget(
        "metadata",
        seeds: {
            let files = ["p3", "srgb"].flatMap { profile in
                Drawing.files("jpegsave_buffer", [["profile": .string(profile)]])
                    + Drawing.files("pngsave_buffer", [["profile": .string(profile)]])
                    + Drawing.files("webpsave_buffer", [["profile": .string(profile)]])
            }
            return files + files.compactMap(profile) + blocks.map { Data($0) }
        }
    ) { data in
        // What was made to need many passes gets them.
        var bare = data
        for _ in 0..<20 { bare = PositionMetadata.removed(from: bare) }
        precondition(PositionMetadata.removed(from: bare) == bare, "some of it was left")
        for rights in [EXIFBlock.rights(of: data), IPTCBlock.rights(of: data)] {
            precondition(rights.map { !$0.isEmpty } ?? true, "a block of nothing")
        }
        if let kept = EXIFBlock.rights(of: data) {
            precondition(EXIFBlock.rights(of: kept) == kept, "rights change when they are kept")
        }
        _ = XMPRights.kept(of: data)
        data.withUnsafeBytes { _ = EXIFBlock.orientation(in: $0) }
        _ = EXIFBlock.upright(data)
        _ = EXIFBlock.bare(data)
        try convert([UInt8](data))
    }

    /// The profile in a JPEG file of one segment for it.
    private static func profile(in file: Data) -> Data? {
        guard let mark = file.firstRange(of: Data("ICC_PROFILE\0\u{1}\u{1}".utf8)) else {
            return nil
        }
        let length = file[mark.lowerBound - 2..<mark.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        return file[mark.upperBound...].prefix(length - 16)
    }

    /// Pixels of both depths by the bytes as a profile.
    private static func convert(_ profile: [UInt8]) throws {
        for channels in [1, 3] {
            guard let foreign = ForeignProfile(profile, channels: channels) else { continue }
            for depth in [Bitmap.Depth.eight, .sixteen] {
                let size = PixelSize(width: 4, height: 4)
                let bytes = 4 * 4 * channels * (depth == .eight ? 1 : 2)
                let bitmap = Bitmap(
                    size: size, channels: channels, depth: depth,
                    storage: .copying(Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 * 37) })))
                _ = try? bitmap.convertingNewPixels(by: foreign)
            }
        }
    }

    /// TIFF blocks with an orientation, a position and a name; a block of IPTC; XMP.
    private static let blocks: [[UInt8]] = [
        Array("II*\0".utf8) + [8, 0, 0, 0, 3, 0]
            + [0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
            + [0x3B, 1, 2, 0, 4, 0, 0, 0, 65, 66, 67, 0]
            + [0x25, 0x88, 4, 0, 1, 0, 0, 0, 50, 0, 0, 0] + [0, 0, 0, 0]
            + [1, 0, 2, 0, 5, 0, 3, 0, 0, 0, 68, 0, 0, 0] + [0, 0, 0, 0]
            + [UInt8](repeating: 9, count: 24),
        Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, 8]
            + [0x1C, 2, 80, 0, 3, 65, 66, 67],
        Array(
            ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='a'><rdf:Description "
                + "xmlns:dc='http://purl.org/dc/elements/1.1/' exif:GPSLatitude='1,2N'>"
                + "<dc:rights>me</dc:rights><exif:GPSLongitude>3</exif:GPSLongitude>"
                + "</rdf:Description></rdf:RDF></x:xmpmeta>").utf8),
    ]
}
