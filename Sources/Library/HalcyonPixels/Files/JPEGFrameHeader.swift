import DirectCodecs
import Foundation

/// The frame header of a JPEG file: what libvips does not tell, or only by failing.
struct JPEGFrameHeader: Equatable {
    /// Bits per sample: 8, or 12 in files that cannot be read here.
    let precision: Int
    let size: PixelSize
    let components: Int
    /// The low half of the frame marker: 0 baseline, 1 extended, 2 progressive, 3 lossless, and so on.
    let process: UInt8
    /// The samples of all components for each pixel: 3 where chroma is stored in full, 1.5 where it is
    /// halved in both directions.
    let samplesPerPixel: Double
    /// Which quantisation table the first component has.
    let firstQuantizer: UInt8
    /// The components of the first scan, as its header tells; `nil` where there is none.
    private(set) var scanComponents: Int?

    /// Whether the image is stored in several passes, so that it has to be kept whole while decoded.
    var isProgressive: Bool { process & 3 == 2 }

    /// Whether libjpeg has all coefficients in memory before the first pixel: those of a file in several
    /// scans. What cannot be told is taken for one.
    var keepsCoefficients: Bool { isProgressive || scanComponents ?? 0 < components }

    /// `nil` when `data` ends, or is not JPEG any more, before a frame header.
    init?(_ data: Data) {
        let header = data.withUnsafeBytes { bytes -> JPEGFrameHeader? in
            var segments = JPEGSegments(bytes)
            var header: JPEGFrameHeader?
            while let segment = segments.next() {
                if segment.code == 0xDA {
                    header?.scanComponents = segment.content.first.map(Int.init)
                    break
                }
                if header == nil, Self.isFrame(segment.code) {
                    guard let frame = JPEGFrameHeader(segment) else { return nil }
                    header = frame
                }
            }
            return header
        }
        guard let header else { return nil }
        self = header
    }

    /// `nil` for a segment that is no frame header, or one that is cut short.
    init?(_ segment: JPEGSegments.Segment) {
        guard Self.isFrame(segment.code) else { return nil }
        let reader = ByteReader(segment.content)
        guard let precision = reader.byte(0), let height = reader.bigUInt16(1),
            let width = reader.bigUInt16(3), let components = reader.byte(5)
        else { return nil }
        self.precision = Int(precision)
        size = PixelSize(width: width, height: height)
        self.components = Int(components)
        firstQuantizer = reader.byte(8) ?? 0
        process = segment.code == 0xF7 ? 0xFF : segment.code & 0x0F
        samplesPerPixel = Self.samplesPerPixel(
            (0..<Int(components)).compactMap { reader.byte(7 + 3 * $0) })
    }

    /// Why this kind of JPEG cannot be read, or `nil` when it can.
    var refusal: String? {
        if precision != 8 {
            return "it has \(precision) bits per sample, only 8 are read"
        }
        return switch process {
        case 0, 1, 2, 9, 10: nil
        case 3, 11: "it is lossless JPEG"
        default: "it is hierarchical JPEG or JPEG-LS"
        }
    }

    /// - Parameter factors: How finely each component is sampled, across in the upper four bits.
    private static func samplesPerPixel(_ factors: [UInt8]) -> Double {
        let across = factors.map { Int($0 >> 4) }
        let down = factors.map { Int($0 & 15) }
        let finest = (across.max() ?? 1) * (down.max() ?? 1)
        guard finest > 0 else { return Double(factors.count) }
        return Double(zip(across, down).reduce(0) { $0 + $1.0 * $1.1 }) / Double(finest)
    }

    /// SOF0…SOF15, of which three codes are other segments; F7 is the frame of JPEG-LS.
    private static func isFrame(_ code: UInt8) -> Bool {
        (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC || code == 0xF7
    }

    /// How many scans a file has at most: the places where two bytes stand as before a scan.
    static func scanCount(of data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var (count, offset) = (0, 0)
            while offset + 1 < bytes.count,
                let found = memchr(base + offset, 0xFF, bytes.count - offset - 1)
            {
                offset = UnsafeRawPointer(found) - base + 1
                if bytes[offset] == 0xDA { count += 1 }
            }
            return count
        }
    }
}
