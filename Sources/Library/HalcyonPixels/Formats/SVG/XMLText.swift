import DirectCodecs
package import Foundation
import Vips

/// An XML document in UTF-8, with one character at the end of a line, whatever it was written in.
struct XMLText {
    let bytes: [UInt8]

    /// `nil` for an encoding that is not known, or text that is not in it.
    init?(_ data: Data) {
        var file = data
        // Programs of C leave a zero behind the text; in UTF-16 one belongs to it.
        while file.last == 0, Self.wideEncoding(of: data) == nil { file.removeLast() }
        guard let text = Self.text(file) else { return nil }
        bytes = Self.withPlainLines(text)
    }

    /// UTF-16 or UTF-32 with its mark, or by the `<` that a document begins with (XML 1.0, appendix F).
    static func wideEncoding(
        of bytes: some Collection<UInt8>
    ) -> (name: String, markLength: Int, unit: Int)? {
        switch Array(bytes.prefix(4)) {
        case [0xFF, 0xFE, 0, 0]: return ("UTF-32LE", 4, 4)
        case [0, 0, 0xFE, 0xFF]: return ("UTF-32BE", 4, 4)
        case [UInt8(ascii: "<"), 0, 0, 0]: return ("UTF-32LE", 0, 4)
        case [0, 0, 0, UInt8(ascii: "<")]: return ("UTF-32BE", 0, 4)
        default: break
        }
        return switch Array(bytes.prefix(2)) {
        case [0xFF, 0xFE]: ("UTF-16LE", 2, 2)
        case [0xFE, 0xFF]: ("UTF-16BE", 2, 2)
        case [UInt8(ascii: "<"), 0]: ("UTF-16LE", 0, 2)
        case [0, UInt8(ascii: "<")]: ("UTF-16BE", 0, 2)
        default: nil
        }
    }

    /// The reason why there is no text.
    static func refusal(of data: Data) -> String {
        let name = wideEncoding(of: data)?.name ?? declaredEncoding(data) ?? "UTF-8"
        return "its text is not in \(name), or this encoding is not read"
    }

    private static func text(_ data: Data) -> [UInt8]? {
        if let wide = wideEncoding(of: data) {
            return converted(data.dropFirst(wide.markLength), from: wide.name)
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if data.starts(with: mark) { return valid(data.dropFirst(mark.count)) }
        switch declaredEncoding(data)?.uppercased() {
        // What can be read up to here is not in UTF-16 or UTF-32.
        case nil, "UTF-8", "UTF8", "UTF-16", "UTF-32", "US-ASCII", "ASCII": return valid(data)
        case let name?: return converted(data, from: name)
        }
    }

    private static func valid(_ data: Data) -> [UInt8]? {
        String(validating: data, as: UTF8.self).map { Array($0.utf8) }
    }

    /// The encoding in the XML declaration.
    private static func declaredEncoding(_ data: Data) -> String? {
        let start = String(decoding: data.prefix(200).prefix { $0 != 0x3E }, as: UTF8.self)
        guard start.hasPrefix("<?xml"), let word = start.range(of: "encoding") else { return nil }
        let value = start[word.upperBound...].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }

    /// The text in UTF-8; `nil` where it is not in `encoding`.
    private static func converted(_ data: Data, from encoding: String) -> [UInt8]? {
        // Other characters are options of the converter.
        guard encoding.utf8.allSatisfy({ $0 < 0x80 && ($0.isNameByte || ".:".utf8.contains($0)) }),
            let converter = iconv_open("UTF-8", encoding),
            converter != iconv_t(bitPattern: -1)
        else { return nil }
        defer { iconv_close(converter) }
        var source = [CChar](data.map { CChar(bitPattern: $0) })
        // No encoding has more than one character in a byte, and none takes more than four.
        var result = [UInt8](repeating: 0, count: data.count * 4 + 16)
        let written: Int? = source.withUnsafeMutableBufferPointer { source in
            result.withUnsafeMutableBytes { buffer in
                var (input, inputCount) = (source.baseAddress, source.count)
                var output = buffer.bindMemory(to: CChar.self).baseAddress
                var outputCount = buffer.count
                let isDone =
                    iconv(converter, &input, &inputCount, &output, &outputCount) != -1
                return isDone ? buffer.count - outputCount : nil
            }
        }
        return written.map { Array(result.prefix($0)) }
    }

    private static func withPlainLines(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(0x0D) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var previous: UInt8 = 0
        for byte in text {
            if byte == 0x0D {
                result.append(0x0A)
            } else if byte != 0x0A || previous != 0x0D {
                result.append(byte)
            }
            previous = byte
        }
        return result
    }
}

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
