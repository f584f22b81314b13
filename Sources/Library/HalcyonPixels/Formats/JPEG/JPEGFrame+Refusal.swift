import DirectCodecs
import Foundation

extension JPEGFrame {
    /// Of what libvips does not tell, or only by failing.
    init?(_ file: Data) {
        guard let frame = file.withUnsafeBytes({ JPEGFrame(of: $0) }) else { return nil }
        self = frame
    }

    var size: PixelSize { PixelSize(width: width, height: height) }

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
