/// The description of a JPEG file's picture, from the segments before the first scan.
public struct JPEGHeader: Equatable, Sendable {
    /// Width and height as stored.
    public let width: Int
    public let height: Int
    public let isGrey: Bool
    /// Whether the picture is stored in several passes, from coarse to fine.
    public let isProgressive: Bool
    /// The EXIF orientation of the stored picture, 1…8.
    public let orientation: Int
    /// The embedded ICC profile.
    public let profile: [UInt8]?

    /// Reads an ordinary file: baseline or progressive Huffman coding, 8 bits, grey or YCbCr, luminance
    /// not below the resolution of chroma.
    ///
    /// `nil` for all others, and for files with anything odd before their first scan, which are
    /// left to a more general reader.
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
                if content.hasText("JFIF\0"), content.count >= 14 { hasJFIF = true }
            case 0xE1 where content.hasText("Exif"):
                guard !hasEXIF, let found = EXIFBlock.orientation(in: content) else { return false }
                hasEXIF = true
                orientation = found
            case 0xE2 where content.hasText("ICC_PROFILE\0"):
                return profile.take(content)
            case 0xEE where content.hasText("Adobe") && content.count >= 12:
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

/// The frame header of a JPEG file, of whatever process.
package struct JPEGFrame: Equatable {
    package struct Component: Equatable {
        let identifier: UInt8
        let horizontal: Int
        let vertical: Int
        /// Which quantisation table it has, 0…3.
        package let quantizer: Int
    }

    /// Bits per sample.
    package let precision: Int
    package let width: Int
    package let height: Int
    /// The number of components; `components` holds those that the segment has room for.
    package let componentCount: Int
    package let components: [Component]
    /// The low half of the frame marker: 0 baseline, 1 extended, 2 progressive, 3 lossless, and so on.
    package let process: UInt8
    /// The components of the first scan, as its header tells; `nil` where there is none.
    private(set) var scanComponents: Int?
    /// Whether the segment has no other length than that of its components.
    private let isExact: Bool

    /// `nil` when a file ends, or is not JPEG any more, before a frame header.
    package init?(of file: UnsafeRawBufferPointer) {
        var segments = JPEGSegments(file)
        var frame: JPEGFrame?
        while let segment = segments.next() {
            if segment.code == 0xDA {
                frame?.scanComponents = segment.content.first.map(Int.init)
                break
            }
            if frame == nil, Self.isFrame(segment.code) {
                guard let found = JPEGFrame(segment) else { return nil }
                frame = found
            }
        }
        guard let frame else { return nil }
        self = frame
    }

    /// `nil` for a segment that is no frame header, or one that is cut short.
    package init?(_ segment: JPEGSegments.Segment) {
        let content = segment.content
        guard Self.isFrame(segment.code), content.count >= 6 else { return nil }
        let count = Int(content[5])
        precision = Int(content[0])
        height = Int(content[1]) << 8 | Int(content[2])
        width = Int(content[3]) << 8 | Int(content[4])
        componentCount = count
        isExact = content.count == 6 + 3 * count
        components = (0..<min(count, (content.count - 6) / 3)).map { index in
            let factors = content[7 + 3 * index]
            return Component(
                identifier: content[6 + 3 * index], horizontal: Int(factors >> 4),
                vertical: Int(factors & 15), quantizer: Int(content[8 + 3 * index]))
        }
        process = segment.code == 0xF7 ? 0xFF : segment.code & 0x0F
    }

    /// Whether the image is stored in several passes, so that it has to be kept whole while decoded.
    package var isProgressive: Bool { process & 3 == 2 }

    /// Whether libjpeg holds all coefficients in memory before the first pixel, as for a file in
    /// several scans. Assumed where it cannot be told.
    package var keepsCoefficients: Bool { isProgressive || scanComponents ?? 0 < componentCount }

    /// Whether `JPEGHeader` goes on to the pixels.
    var isOrdinary: Bool {
        guard isExact, precision == 8, width > 0, height > 0, [1, 3].contains(componentCount) else {
            return false
        }
        let first = components[0]
        return components.allSatisfy {
            $0.quantizer < 4 && (1...4).contains($0.horizontal) && (1...4).contains($0.vertical)
                && first.horizontal % $0.horizontal == 0 && first.vertical % $0.vertical == 0
        }
    }

    /// The samples of all components for each pixel: 3 where chroma is stored in full, 1.5 where it is
    /// halved in both directions.
    package var samplesPerPixel: Double {
        let finest =
            (components.map(\.horizontal).max() ?? 1) * (components.map(\.vertical).max() ?? 1)
        guard finest > 0 else { return Double(components.count) }
        return Double(components.reduce(0) { $0 + $1.horizontal * $1.vertical }) / Double(finest)
    }

    /// SOF0…SOF15, of which three codes are other segments; F7 is the frame of JPEG-LS.
    private static func isFrame(_ code: UInt8) -> Bool {
        (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC || code == 0xF7
    }
}
