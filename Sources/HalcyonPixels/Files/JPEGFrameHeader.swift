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

    /// Whether the image is stored in several passes, so that it has to be kept whole while decoded.
    var isProgressive: Bool { process & 3 == 2 }

    /// `nil` when `data` ends, or is not JPEG any more, before a frame header.
    init?(_ data: Data) {
        let header = data.withUnsafeBytes { Self.find(in: ByteReader($0)) }
        guard let header else { return nil }
        self = header
    }

    private init(
        precision: Int, size: PixelSize, components: Int, process: UInt8, samplesPerPixel: Double
    ) {
        self.precision = precision
        self.size = size
        self.components = components
        self.process = process
        self.samplesPerPixel = samplesPerPixel
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

    private static func find(in reader: ByteReader) -> JPEGFrameHeader? {
        var offset = 2
        while let mark = reader.byte(offset) {
            guard mark == 0xFF else { return nil }
            guard let code = reader.byte(offset + 1) else { return nil }
            if code == 0xFF {
                // Marks may be padded with any number of 0xFF.
                offset += 1
                continue
            }
            if code == 0x01 || (0xD0...0xD8).contains(code) {
                offset += 2
                continue
            }
            guard let length = reader.bigUInt16(offset + 2), length >= 2 else { return nil }
            if isFrame(code) {
                guard let precision = reader.byte(offset + 4),
                    let height = reader.bigUInt16(offset + 5),
                    let width = reader.bigUInt16(offset + 7),
                    let components = reader.byte(offset + 9)
                else { return nil }
                return JPEGFrameHeader(
                    precision: Int(precision), size: PixelSize(width: width, height: height),
                    components: Int(components), process: code == 0xF7 ? 0xFF : code & 0x0F,
                    samplesPerPixel: samplesPerPixel(
                        (0..<Int(components)).compactMap { reader.byte(offset + 11 + 3 * $0) }))
            }
            if code == 0xDA || code == 0xD9 { return nil }
            offset += 2 + length
        }
        return nil
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
}
