package import Foundation

/// Recognises image files by their bytes; names and media types are never asked.
package enum ImageSniffer {
    /// Data of this many bytes or fewer is no image of any format.
    static let tooShort = 8

    /// The format of `data`, or `.unknown`. Looks at the first bytes, of text at the first 64 KiB.
    package static func format(of data: Data) -> ImageFormat {
        guard data.count > tooShort else { return .unknown }
        return data.withUnsafeBytes { bytes in
            if let match = signatures.first(where: { $0.matches(bytes) }) { return match.format }
            if let format = ISOMediaBrands(bytes)?.imageFormat { return format }
            if BMPHeader.looksPlausible(bytes) { return .BMP }
            if ICODirectory.looksPlausible(bytes) { return .ICO }
            if MarkupProlog.rootName(in: bytes) == "svg" { return .SVG }
            return .unknown
        }
    }

    /// Bytes that every file of a format has, and what the format is.
    struct Signature<Meaning: Sendable>: Sendable {
        /// `nil` stands for any byte.
        let pattern: [UInt8?]
        let format: Meaning

        init(_ pattern: [UInt8?], _ format: Meaning) {
            self.pattern = pattern
            self.format = format
        }

        /// A pattern of ASCII text; `?` stands for any byte.
        init(_ text: StaticString, _ format: Meaning) {
            self.init(
                text.withUTF8Buffer { $0.map { $0 == UInt8(ascii: "?") ? nil : $0 } }, format)
        }

        func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
            bytes.count >= pattern.count
                && zip(pattern, bytes).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private static let signatures: [Signature<ImageFormat>] = [
        Signature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .PNG),
        Signature([0xFF, 0xD8, 0xFF], .JPEG),
        Signature("GIF", .GIF),
        Signature("RIFF????WEBP", .WebP),
        Signature([0xFF, 0x0A], .JPEGXL),
        Signature([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .JPEGXL),
        Signature([0x49, 0x49, 0x2A, 0x00], .TIFF),
        Signature([0x4D, 0x4D, 0x00, 0x2A], .TIFF),
        Signature([0x49, 0x49, 0x2B, 0x00], .TIFF),
        Signature([0x4D, 0x4D, 0x00, 0x2B], .TIFF),
        Signature("%PDF-", .PDF),
    ]
}
