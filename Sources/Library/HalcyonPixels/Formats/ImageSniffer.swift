import DirectCodecs
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
            if JPEGSegments.begins(bytes) { return .JPEG }
            if MarkupProlog.rootName(ofFile: bytes) == "svg" { return .SVG }
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

extension ImageSniffer {
    static func describe(_ data: Data) -> String {
        if data.isEmpty { return "no bytes" }
        return data.withUnsafeBytes { bytes in
            if let match = foreignSignatures.first(where: { $0.matches(bytes) }) {
                return match.format
            }
            if ISOMediaBrands(bytes) != nil { return "an ISO media file" }
            if let text = describeText(bytes) { return text }
            if data.count <= tooShort { return "only \(data.count) bytes" }
            return "unrecognised binary data"
        }
    }

    private static let imageMagickOnly = "which only ImageMagick reads, and that is not used"

    private static let foreignSignatures: [Signature<String>] = [
        Signature([0x1F, 0x8B], "gzip data"),
        Signature([0x28, 0xB5, 0x2F, 0xFD], "Zstandard data"),
        Signature([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"),
        Signature("BZh", "bzip2 data"),
        Signature([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "xz data"),
        Signature([0x4C, 0x6F, 0xA7, 0x94], "XML in EBCDIC, which is not read"),
        Signature("8BPS", "a Photoshop document, \(imageMagickOnly)"),
        Signature([0x76, 0x2F, 0x31, 0x01], "an OpenEXR image, which is not read"),
        Signature("DDS ", "a DirectDraw surface, \(imageMagickOnly)"),
        Signature("qoif", "a QOI image, \(imageMagickOnly)"),
        Signature("farbfeld", "a farbfeld image, \(imageMagickOnly)"),
        Signature("gimp xcf", "a GIMP document, \(imageMagickOnly)"),
        Signature([0x00, 0x00, 0x02, 0x00], "a Windows cursor, \(imageMagickOnly)"),
        Signature(
            [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A],
            "a JPEG 2000 image, which is not read"),
        Signature("RIFF????WAVE", "a WAVE sound"),
        Signature("RIFF????AVI ", "an AVI video"),
        Signature("OggS", "an Ogg file"),
        Signature([0x1A, 0x45, 0xDF, 0xA3], "a Matroska or WebM video"),
        Signature([0x7F, 0x45, 0x4C, 0x46], "a program"),
        Signature("SQLite format 3", "an SQLite database"),
    ]

    /// Describes the kind of text in `bytes`; `nil` when they are not text.
    private static func describeText(_ bytes: UnsafeRawBufferPointer) -> String? {
        let sample = bytes.prefix(1024)
        guard isText(sample), let start = MarkupProlog.firstContentByte(in: bytes) else {
            return nil
        }
        if start == UInt8(ascii: "<") {
            let root = MarkupProlog.rootName(in: bytes)
            if root == "html" || MarkupProlog.mentionsHTML(bytes) { return "an HTML page" }
            return root.map { "XML whose root is <\($0)>" } ?? "XML or HTML text"
        }
        if start == UInt8(ascii: "{") || start == UInt8(ascii: "[") { return "JSON" }
        if isNetpbm(sample) { return "a Netpbm image, \(imageMagickOnly)" }
        return "plain text"
    }

    /// Whether there are no control characters, and UTF-8 but for a last character that is cut off.
    private static func isText(_ sample: Slice<UnsafeRawBufferPointer>) -> Bool {
        sample.allSatisfy { $0 >= 0x20 || $0 == 9 || $0 == 10 || $0 == 12 || $0 == 13 }
            && !String(decoding: sample, as: UTF8.self).dropLast().unicodeScalars.contains(
                "\u{FFFD}")
    }

    /// `P1` … `P7` and white space.
    private static func isNetpbm(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        let start = Array(bytes.prefix(3))
        return start.count == 3 && start[0] == UInt8(ascii: "P")
            && (UInt8(ascii: "1")...UInt8(ascii: "7")).contains(start[1])
            && [0x20, 0x09, 0x0A, 0x0D].contains(start[2])
    }
}
