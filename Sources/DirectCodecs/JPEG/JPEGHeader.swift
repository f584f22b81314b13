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
            guard parts.take(segment.code, segment.content) else { return nil }
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
        mutating func take(_ code: UInt8, _ segment: UnsafeRawBufferPointer) -> Bool {
            switch code {
            case 0xC0, 0xC1, 0xC2:
                guard frame == nil, let found = JPEGFrame(segment, isProgressive: code == 0xC2)
                else { return false }
                frame = found
            case 0xE0:
                if segment.hasText("JFIF\0", at: 0), segment.count >= 14 { hasJFIF = true }
            case 0xE1 where segment.hasText("Exif", at: 0):
                guard !hasEXIF, let found = EXIFBlock.orientation(in: segment) else { return false }
                hasEXIF = true
                orientation = found
            case 0xE2 where segment.hasText("ICC_PROFILE\0", at: 0):
                return profile.take(segment)
            case 0xEE where segment.hasText("Adobe", at: 0) && segment.count >= 12:
                adobeTransform = segment[11]
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
