/// A property of XMP as it is written: an attribute, or an element with its content.
enum XMPProperty {
    /// Longer ones are not looked at.
    private static let longestProperty = 64 << 10
    private static let longestName = 128

    /// The property around a colon in its name, for example that of `dc:creator`.
    static func range(at colon: Int, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        var start = colon
        while let byte = bytes.byte(at: start - 1), isName(byte), colon - start < longestName {
            start -= 1
        }
        var end = colon + 1
        while let byte = bytes.byte(at: end), isName(byte), end - colon < longestName { end += 1 }
        guard start < colon, let before = bytes.byte(at: start - 1) else { return nil }
        if before == UInt8(ascii: "<") {
            let name = bytes[start..<end]
            return element(name, from: start - 1, nameEnd: end, in: bytes)
        }
        return isSpace(before) ? attribute(from: start, nameEnd: end, in: bytes) : nil
    }

    /// `name = "value"`
    private static func attribute(
        from start: Int, nameEnd: Int, in bytes: UnsafeRawBufferPointer
    ) -> Range<Int>? {
        var place = skipSpace(nameEnd, bytes)
        guard bytes.byte(at: place) == UInt8(ascii: "=") else { return nil }
        place = skipSpace(place + 1, bytes)
        guard let quote = bytes.byte(at: place),
            quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        else { return nil }
        let rest = bytes[(place + 1)...].prefix(longestProperty)
        return rest.firstIndex(of: quote).map { start..<$0 + 1 }
    }

    /// `<name …/>`, or everything up to `</name>`.
    private static func element(
        _ name: Slice<UnsafeRawBufferPointer>, from start: Int, nameEnd: Int,
        in bytes: UnsafeRawBufferPointer
    ) -> Range<Int>? {
        let rest = bytes[nameEnd...].prefix(longestProperty)
        guard let tagEnd = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        if bytes[tagEnd - 1] == UInt8(ascii: "/") { return start..<tagEnd + 1 }
        let closing = Array("</".utf8) + name + [UInt8(ascii: ">")]
        let content = UnsafeRawBufferPointer(rebasing: bytes[tagEnd...].prefix(longestProperty))
        return content.places(of: closing).first.map { start..<tagEnd + $0 + closing.count }
    }

    private static func skipSpace(_ offset: Int, _ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = offset
        while let byte = bytes.byte(at: offset), isSpace(byte) { offset += 1 }
        return offset
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte.isNameByte || byte == UInt8(ascii: ".")
    }

    /// The name behind a colon.
    static func localName(after colon: Int, in bytes: UnsafeRawBufferPointer) -> String {
        String(
            decoding: bytes[(colon + 1)...].prefix(longestName).prefix(while: isName),
            as: UTF8.self)
    }
}
