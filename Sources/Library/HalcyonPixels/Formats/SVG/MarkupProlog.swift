import Foundation
import Vips

/// The part of an XML or HTML text before its root element.
enum MarkupProlog {
    /// Text is searched no further than this for its root element.
    private static let searchLimit = 64 << 10
    private static let nameLimit = 64

    /// The lower-case local name of the root element, or `nil` when `bytes` are not markup. Only a byte
    /// order mark, white space, declarations, comments and a document type may stand before it.
    static func rootName(in bytes: UnsafeRawBufferPointer) -> String? {
        root(in: bytes)?.name
    }

    /// As above, for a file that may be compressed, or in UTF-16 or UTF-32.
    static func rootName(ofFile bytes: UnsafeRawBufferPointer) -> String? {
        if GzipContent.isGzip(bytes) {
            guard let content = GzipContent(bytes, upTo: searchLimit) else { return nil }
            return content.bytes.withUnsafeBytes { rootName(ofText: $0) }
        }
        return rootName(ofText: bytes)
    }

    private static func rootName(ofText bytes: UnsafeRawBufferPointer) -> String? {
        guard let wide = XMLText.wideEncoding(of: bytes) else { return rootName(in: bytes) }
        let start = bytes.dropFirst(wide.markLength).prefix(wide.unit * searchLimit)
        let low = wide.name.hasSuffix("BE") ? wide.unit - 1 : 0
        // Other characters than those of ASCII may be any.
        return stride(from: start.startIndex, through: start.endIndex - wide.unit, by: wide.unit)
            .map { place in
                let unit = start[place..<place + wide.unit]
                return unit.allSatisfy { $0 == 0 || $0 == start[place + low] }
                    && start[place + low] < 0x80 ? start[place + low] : UInt8(ascii: "?")
            }.withUnsafeBytes { rootName(in: $0) }
    }

    struct Root {
        let name: String
        /// The start tag without `<` and `>`.
        let tag: String
        /// Where the tag is in the text.
        let range: Range<Int>
    }

    static func root(in bytes: UnsafeRawBufferPointer) -> Root? {
        var scanner = Scanner(bytes: bytes.prefix(searchLimit))
        scanner.skipByteOrderMark()
        while true {
            scanner.skipSpace()
            guard scanner.skip("<") else { return nil }
            if scanner.skip("?") {
                guard scanner.skipPast("?>") else { return nil }
            } else if scanner.skip("!--") {
                guard scanner.skipPast("-->") else { return nil }
            } else if scanner.skip("!") {
                guard !scanner.isAtHTMLDocumentType, scanner.skipDocumentType() else { return nil }
            } else {
                return scanner.startTag(nameLimit: nameLimit)
            }
        }
    }

    /// The first byte after a byte order mark and white space.
    static func firstContentByte(in bytes: UnsafeRawBufferPointer) -> UInt8? {
        var scanner = Scanner(bytes: bytes.prefix(searchLimit))
        scanner.skipByteOrderMark()
        scanner.skipSpace()
        return scanner.peek
    }

    /// Whether the first characters name HTML, as a document type or an element that only HTML has.
    static func mentionsHTML(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let start = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        return ["<!doctype html", "<html", "<head", "<body"].contains { start.contains($0) }
    }

    private struct Scanner {
        private let bytes: Slice<UnsafeRawBufferPointer>
        private var index: Int

        init(bytes: Slice<UnsafeRawBufferPointer>) {
            self.bytes = bytes
            index = bytes.startIndex
        }

        var peek: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

        mutating func skipByteOrderMark() {
            if bytes[index...].starts(with: [0xEF, 0xBB, 0xBF]) { index += 3 }
        }

        mutating func skipSpace() {
            while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { index += 1 }
        }

        mutating func skip(_ text: String) -> Bool {
            guard bytes[index...].starts(with: text.utf8) else { return false }
            index += text.utf8.count
            return true
        }

        mutating func skipPast(_ end: String) -> Bool {
            let first = end.utf8.first!
            while let found = bytes[index...].firstIndex(of: first) {
                index = found
                if skip(end) { return true }
                index += 1
            }
            index = bytes.endIndex
            return false
        }

        /// Whether `DOCTYPE html` stands here: then nothing in it is the root of an XML document.
        var isAtHTMLDocumentType: Bool {
            let words = String(decoding: bytes[index...].prefix(64), as: UTF8.self).lowercased()
                .split { $0.isWhitespace || $0 == ">" }
            return words.first == "doctype" && words.dropFirst().first == "html"
        }

        /// Skips the rest of a declaration, whose `[` … `]` part may hold further ones.
        mutating func skipDocumentType() -> Bool {
            var depth = 0
            while let byte = peek {
                index += 1
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    guard let end = bytes[index...].firstIndex(of: byte) else { return false }
                    index = end + 1
                case UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: ">") where depth <= 0: return true
                default: break
                }
            }
            return false
        }

        /// The start tag that begins here, after its `<`.
        mutating func startTag(nameLimit: Int) -> Root? {
            let start = index
            while let byte = peek, !isNameEnd(byte) { index += 1 }
            guard peek != nil, index > start, index - start <= nameLimit else { return nil }
            let name = String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
            var quote: UInt8?
            while let byte = peek {
                if let open = quote {
                    if byte == open { quote = nil }
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                } else if byte == UInt8(ascii: ">") {
                    break
                }
                index += 1
            }
            let local = name.split(separator: ":").last.map(String.init) ?? name
            return Root(
                name: local, tag: String(decoding: bytes[start..<index], as: UTF8.self),
                range: start..<index)
        }

        private func isNameEnd(_ byte: UInt8) -> Bool {
            byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: ">")
                || byte == UInt8(ascii: "/")
        }
    }
}
