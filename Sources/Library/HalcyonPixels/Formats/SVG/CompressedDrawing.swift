package import Foundation
import Vips

/// Drawings as gzip files (SVG 2, section 1.3): `svgz`.
package enum CompressedDrawing {
    /// Larger ones are not drawn.
    package static let mostBytes = 32 << 20

    /// The content of a gzip file; any other file as it is.
    package static func inflated(
        _ file: Data, upTo limit: Int = mostBytes
    ) throws(XMLScanner.Refusal) -> Data {
        guard file.starts(with: [0x1F, 0x8B]) else { return file }
        let content = file.withUnsafeBytes { GzipContent($0, upTo: limit + 1) }
        guard let content else { throw .malformed("its compressed text is damaged") }
        guard content.bytes.count <= limit else {
            throw .tooComplex("its text takes more than \(limit) bytes")
        }
        guard content.isWhole else { throw .malformed("its compressed text is cut short") }
        return content.bytes
    }
}
