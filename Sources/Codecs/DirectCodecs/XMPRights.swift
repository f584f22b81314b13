package import Foundation

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
