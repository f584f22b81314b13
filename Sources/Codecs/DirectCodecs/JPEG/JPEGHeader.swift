/// What the segments before the first scan of a JPEG file say of the picture.
public struct JPEGHeader: Equatable, Sendable {
    /// Width and height as stored.
    public let width: Int
    public let height: Int
    public let isGrey: Bool
    /// Whether the picture is stored in several passes, from coarse to fine.
    public let isProgressive: Bool
    /// How the stored picture is to be turned, 1…8 as in EXIF.
    public let orientation: Int
    /// The embedded ICC profile.
    public let profile: [UInt8]?

    /// Reads an ordinary file: baseline or progressive Huffman coding, 8 bits, grey or YCbCr, luminance
    /// not below the resolution of chroma.
    ///
    /// `nil` for all others, and for files with anything odd before their first scan: those are for a
    /// reader that knows what to make of them.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        var parts = Parts()
        var segments = JPEGSegments(bytes)
        while true {
            guard let segment = segments.next() else { return nil }
            if segment.code == 0xDA { break }
            guard parts.take(segment) else { return nil }
        }
        guard let frame = parts.frame, frame.isOrdinary, parts.isOrdinary(frame) else {
            return nil
        }
        guard let profile = parts.profile.joined else { return nil }
        width = frame.width
        height = frame.height
        isGrey = frame.components.count == 1
        isProgressive = frame.isProgressive
        orientation = parts.orientation ?? 1
        self.profile = profile.isEmpty ? nil : profile
    }
}

extension JPEGHeader {
    /// What has been found so far.
    private struct Parts {
        var frame: JPEGFrame?
        var orientation: Int?
        var profile = JPEGProfileChunks()
        private var hasEXIF = false
        private var hasJFIF = false
        private var adobeTransform: UInt8?

        /// Takes a segment; false for what an ordinary file does not have.
        mutating func take(_ segment: JPEGSegments.Segment) -> Bool {
            let content = segment.content
            switch segment.code {
            case 0xC0, 0xC1, 0xC2:
                guard frame == nil, let found = JPEGFrame(segment) else { return false }
                frame = found
            case 0xE0:
                if content.hasText("JFIF\0", at: 0), content.count >= 14 { hasJFIF = true }
            case 0xE1 where content.hasText("Exif", at: 0):
                guard !hasEXIF, let found = EXIFBlock.orientation(in: content) else { return false }
                hasEXIF = true
                orientation = found
            case 0xE2 where content.hasText("ICC_PROFILE\0", at: 0):
                return profile.take(content)
            case 0xEE where content.hasText("Adobe", at: 0) && content.count >= 12:
                adobeTransform = content[11]
            case 0xC4, 0xDB, 0xDD, 0xE0...0xEF, 0xFE:
                break
            default:
                return false
            }
            return true
        }

        /// Whether the three components are YCbCr, by the rules of libjpeg.
        func isOrdinary(_ frame: JPEGFrame) -> Bool {
            if frame.components.count == 1 { return true }
            if hasJFIF { return adobeTransform ?? 1 == 1 }
            if let adobeTransform { return adobeTransform == 1 }
            return frame.components.map(\.identifier) != Array("RGB".utf8)
        }
    }
}

/// The ICC profile of a JPEG file, which is cut into segments (ICC.1:2010, B.4).
struct JPEGProfileChunks {
    /// "ICC_PROFILE", a zero, the chunk's number and how many there are.
    private static let headLength = 14

    private var chunks: [Int: [UInt8]] = [:]
    private var total: Int?

    /// Takes a segment; false when it contradicts those before.
    mutating func take(_ segment: UnsafeRawBufferPointer) -> Bool {
        guard segment.count >= Self.headLength else { return false }
        let (number, total) = (Int(segment[12]), Int(segment[13]))
        guard number >= 1, number <= total, chunks[number] == nil, self.total ?? total == total
        else { return false }
        self.total = total
        chunks[number] = Array(segment[Self.headLength...])
        return true
    }

    /// The profile; empty when there is none, `nil` when parts of it are missing.
    var joined: [UInt8]? {
        guard let total else { return [] }
        guard chunks.count == total else { return nil }
        return (1...total).flatMap { chunks[$0] ?? [] }
    }
}
