import Foundation

/// The elements of an SVG file with the attributes that tell how much work drawing them is. No complete
/// reader of XML: what is not well-formed is left to the one that draws.
struct SVGOutline {
    struct Element {
        /// Without a prefix.
        let name: String
        let attributes: [String: String]
        /// Of a path or polygon; rather too many than too few.
        let vertices: Int
        let parent: Int?
        var children: [Int] = []
        /// Of the text right in the element.
        var letters = Letters()
    }

    struct Letters {
        private(set) var all = 0
        /// Those beyond ASCII, each once.
        private(set) var foreign: Set<Unicode.Scalar> = []

        mutating func add(_ text: String) {
            for letter in text.unicodeScalars where !letter.properties.isWhitespace {
                all += 1
                if !letter.isASCII { foreign.insert(letter) }
            }
        }
    }

    /// The elements in the order in which they begin; the first is the root.
    private(set) var elements: [Element] = []
    /// How deep elements are nested.
    private(set) var depth = 0
    /// What `style` elements say.
    private(set) var styles = ""
    /// Whether the file defines an entity that stands for elements.
    private(set) var hasEntitiesOfElements = false
    /// Whether the file defines an entity that may stand for a reference, or for a part of one.
    private(set) var hasEntitiesOfReferences = false
    /// Whether there are more elements than were looked at.
    private(set) var isCutOff = false

    /// - Parameter limit: The most elements that are looked at.
    init(_ data: Data, limit: Int) {
        data.withUnsafeBytes { bytes in
            var scanner = MarkupScanner(bytes)
            var open: [Int] = []
            while let token = scanner.next() {
                switch token {
                case .start(let name, let attributes, let vertices, let isClosed):
                    guard elements.count < limit else {
                        isCutOff = true
                        return
                    }
                    elements.append(
                        Element(
                            name: name, attributes: attributes, vertices: vertices,
                            parent: open.last))
                    let index = elements.count - 1
                    if let parent = open.last { elements[parent].children.append(index) }
                    depth = max(depth, open.count + 1)
                    if !isClosed { open.append(index) }
                case .end:
                    _ = open.popLast()
                case .text(let text):
                    guard let index = open.last else { continue }
                    switch elements[index].name {
                    case "style": styles += text
                    case "text", "tspan", "textPath", "tref", "a":
                        elements[index].letters.add(text)
                    default: break
                    }
                case .declaration(let text):
                    if Self.definesElements(text) { hasEntitiesOfElements = true }
                    if text.contains("<!ENTITY"), text.contains("(") || text.contains("&") {
                        hasEntitiesOfReferences = true
                    }
                }
            }
        }
    }

    /// Whether the value of an entity holds an element, however its bracket is written, or comes from
    /// another file.
    private static func definesElements(_ declaration: String) -> Bool {
        var rest = declaration[...]
        while let entity = rest.range(of: "<!ENTITY") {
            rest = rest[entity.upperBound...]
            let end = rest.range(of: "<!ENTITY")?.lowerBound ?? rest.endIndex
            let definition = rest[..<end].lowercased()
            if ["<", "&#60;", "&#x3c;", "&#x03c;", "&lt;"].contains(where: definition.contains) {
                return true
            }
            // Of another file; the words stand before its name, which is in quotation marks.
            let words = definition.prefix { $0 != "\"" && $0 != "'" }.split(
                whereSeparator: \.isWhitespace)
            if words.contains("system") || words.contains("public") { return true }
        }
        return false
    }
}

/// The tokens of a markup file, without regard for whether it is well-formed.
private struct MarkupScanner {
    enum Token {
        case start(name: String, attributes: [String: String], vertices: Int, isClosed: Bool)
        case end
        case text(String)
        case declaration(String)
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        guard offset < bytes.count else { return nil }
        guard bytes[offset] == UInt8(ascii: "<") else {
            let start = offset
            offset = place(of: "<", from: offset) ?? bytes.count
            return .text(text(start..<offset))
        }
        if starts(with: "<!--") { return passed(to: "-->") }
        if starts(with: "<![CDATA[") { return .text(pass(to: "]]>")) }
        if starts(with: "<?") { return passed(to: "?>") }
        if starts(with: "<!") { return .declaration(declaration()) }
        if starts(with: "</") {
            _ = pass(to: ">")
            return .end
        }
        return tag()
    }

    /// What says nothing.
    private mutating func passed(to end: StaticString) -> Token {
        _ = pass(to: end)
        return .text("")
    }

    private mutating func tag() -> Token {
        offset += 1
        let name = text(word())
        var attributes: [String: String] = [:]
        var vertices = 0
        while true {
            skipSpace()
            guard offset < bytes.count else { break }
            switch bytes[offset] {
            case UInt8(ascii: ">"):
                offset += 1
                return .start(
                    name: name, attributes: attributes, vertices: vertices, isClosed: false)
            case UInt8(ascii: "/"):
                offset += 1
                if offset < bytes.count, bytes[offset] == UInt8(ascii: ">") {
                    offset += 1
                    return .start(
                        name: name, attributes: attributes, vertices: vertices, isClosed: true)
                }
            default:
                let key = text(word())
                skipSpace()
                guard !key.isEmpty, offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
                    if key.isEmpty { offset += 1 }
                    continue
                }
                offset += 1
                skipSpace()
                let place = value()
                if key == "d" || key == "points" {
                    vertices = SVGVertices.count(in: bytes[place])
                } else if Self.isKept(key, bytes[place]) {
                    attributes[key] = text(place)
                }
            }
        }
        return .start(name: name, attributes: attributes, vertices: vertices, isClosed: true)
    }

    /// Whether an attribute has to do with the work of drawing: of most elements none has.
    private static func isKept(_ name: String, _ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        if kept.contains(name) { return true }
        if SVGReferences.painting.contains(name), value.contains(UInt8(ascii: "&")) { return true }
        return value.contains(UInt8(ascii: "("))
            && String(decoding: value, as: UTF8.self).contains("url(")
    }

    private static let kept: Set = [
        "id", "href", "style", "filter", "opacity", "mask", "clip-path", "transform", "result",
        "numOctaves", "radius", "order", "class", "viewBox", "width", "height",
    ]

    /// Where a name without its prefix is.
    private mutating func word() -> Range<Int> {
        let start = offset
        while offset < bytes.count, !" \t\r\n=/><\"'".utf8.contains(bytes[offset]) { offset += 1 }
        let prefix = bytes[start..<offset].lastIndex(of: UInt8(ascii: ":"))
        return (prefix.map { $0 + 1 } ?? start)..<offset
    }

    private mutating func value() -> Range<Int> {
        guard offset < bytes.count else { return offset..<offset }
        let quote = bytes[offset]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return word() }
        let start = offset + 1
        offset = start
        while offset < bytes.count, bytes[offset] != quote { offset += 1 }
        let end = offset
        offset = min(offset + 1, bytes.count)
        return start..<end
    }

    /// A declaration with what it has in brackets.
    private mutating func declaration() -> String {
        let start = offset
        var isInside = false
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "[") { isInside = true }
            if byte == UInt8(ascii: "]") { isInside = false }
            if byte == UInt8(ascii: ">"), !isInside { break }
        }
        return text(start..<offset)
    }

    private mutating func skipSpace() {
        while offset < bytes.count, " \t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
    }

    private func starts(with prefix: StaticString) -> Bool {
        starts(with: prefix, at: offset)
    }

    private func starts(with prefix: StaticString, at place: Int) -> Bool {
        prefix.withUTF8Buffer { prefix in
            bytes.count - place >= prefix.count
                && bytes[place..<place + prefix.count].elementsEqual(prefix)
        }
    }

    /// Passes on behind the next `end`, and returns what was before it; all the rest when there is none.
    private mutating func pass(to end: StaticString) -> String {
        let start = offset
        let found = place(of: end, from: offset)
        offset = found.map { $0 + end.utf8CodeUnitCount } ?? bytes.count
        return text(start..<(found ?? bytes.count))
    }

    private func place(of text: StaticString, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place < bytes.count,
            let found = memchr(
                base + place, Int32(text.utf8Start.pointee), bytes.count - place)
        {
            place = UnsafeRawPointer(found) - base
            if starts(with: text, at: place) { return place }
            place += 1
        }
        return nil
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}
