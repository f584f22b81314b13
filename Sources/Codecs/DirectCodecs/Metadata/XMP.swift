package import Foundation

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

    static func localName(after colon: Int, in bytes: UnsafeRawBufferPointer) -> String {
        String(
            decoding: bytes[(colon + 1)...].prefix(longestName).prefix(while: isName),
            as: UTF8.self)
    }
}

/// The properties of XMP (ISO 16684-1) that tell a position: those whose names begin with GPS, such as
/// `exif:GPSLatitude`, as attributes and as elements.
enum XMPPositions {
    /// The edits that overwrite the properties with spaces, wherever XMP is in the file.
    static func edits(in bytes: UnsafeRawBufferPointer) -> [ByteEdit] {
        var end = 0
        return [":GPS", ":Gps", ":gps"].flatMap { bytes.places(of: Array($0.utf8)) }.sorted()
            .compactMap { place in
                guard place >= end, let range = XMPProperty.range(at: place, in: bytes) else {
                    return nil
                }
                end = range.upperBound
                return ByteEdit(range, filling: UInt8(ascii: " "))
            }
    }
}

/// The properties of XMP (ISO 16684-1) that say who made a picture and who may use it.
package enum XMPRights {
    /// Longer packets are not looked at.
    private static let longestPacket = 1 << 20

    /// Names of properties by their namespaces; `nil` for all of a namespace.
    private static let properties: [(namespace: String, names: Set<String>?)] = [
        ("http://purl.org/dc/elements/1.1/", ["rights", "creator", "contributor", "publisher"]),
        ("http://ns.adobe.com/xap/1.0/rights/", nil),
        ("http://creativecommons.org/ns#", nil),
    ]

    /// A packet with nothing but these properties of `packet`; `nil` when it has none, or is not UTF-8.
    package static func kept(of packet: Data) -> Data? {
        guard packet.count <= longestPacket, let text = String(data: packet, encoding: .utf8),
            !text.contains("<!")
        else { return nil }
        let namespaces = namespaces(in: text)
        var attributes = ""
        var elements = ""
        packet.withUnsafeBytes { bytes in
            for (range, isElement) in ranges(of: namespaces, in: bytes) {
                let property = String(decoding: bytes[range], as: UTF8.self)
                if isElement {
                    elements += property
                } else {
                    attributes += " " + property
                }
            }
        }
        guard !attributes.isEmpty || !elements.isEmpty else { return nil }
        let declarations = namespaces.filter { $0.prefix != "rdf" && $0.prefix != "x" }
            .map { " xmlns:\($0.prefix)=\"\($0.uri)\"" }.joined()
        return Data(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>\
            <x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about=""\(declarations)\(attributes)>\(elements)</rdf:Description>\
            </rdf:RDF></x:xmpmeta><?xpacket end="r"?>
            """.utf8)
    }

    /// All namespaces that are declared, each prefix once.
    private static func namespaces(in text: String) -> [(prefix: String, uri: String)] {
        var known: Set<Substring> = []
        let declaration = /xmlns:([A-Za-z0-9_.\-]+)\s*=\s*["']([^"'<&]*)["']/
        return text.matches(of: declaration).prefix(100).compactMap { match in
            known.insert(match.1).inserted ? (String(match.1), String(match.2)) : nil
        }
    }

    /// Where the properties are, in their order, none within another.
    private static func ranges(
        of namespaces: [(prefix: String, uri: String)], in bytes: UnsafeRawBufferPointer
    ) -> [(range: Range<Int>, isElement: Bool)] {
        var found: [(range: Range<Int>, isElement: Bool)] = []
        for (prefix, uri) in namespaces {
            guard let names = properties.first(where: { $0.namespace == uri }) else { continue }
            for place in bytes.places(of: Array("\(prefix):".utf8)) {
                let colon = place + prefix.utf8.count
                guard let range = XMPProperty.range(at: colon, in: bytes) else { continue }
                let isElement = bytes[range.lowerBound] == UInt8(ascii: "<")
                // Otherwise the prefix is the end of a longer one.
                guard place == range.lowerBound + (isElement ? 1 : 0) else { continue }
                let name = XMPProperty.localName(after: colon, in: bytes)
                if names.names?.contains(name) ?? true { found.append((range, isElement)) }
            }
        }
        var end = 0
        return found.sorted { $0.range.lowerBound < $1.range.lowerBound }.filter { item in
            guard item.range.lowerBound >= end else { return false }
            end = item.range.upperBound
            return true
        }
    }
}
