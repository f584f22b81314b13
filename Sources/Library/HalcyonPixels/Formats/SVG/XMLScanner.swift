package import Foundation

/// The tokens of an XML document, read strictly: what a browser would not take is damage here, and of a
/// document type nothing is used but entities that stand for text, if these are wanted at all.
package struct XMLScanner {
    package enum Token: Equatable {
        /// Attribute values have their references resolved.
        case start(name: String, attributes: [Attribute], isEmpty: Bool)
        case end(name: String)
        case text(String)
        case instruction(String)
    }

    package struct Attribute: Equatable {
        package let name: String
        package let value: String

        /// Without a prefix.
        package var localName: Substring { name.split(separator: ":").last ?? "" }
    }

    package enum Refusal: Error, Equatable {
        case malformed(String)
        case tooComplex(String)
    }

    private let bytes: [UInt8]
    private var place = 0
    private let expandsEntities: Bool
    private var references = XMLReferences()

    /// - Parameters:
    ///   - data: In UTF-8, UTF-16, UTF-32, or what its declaration says; as it is, or as a gzip file.
    ///   - expandsEntities: Whether entities that stand for text are taken for that; a document that defines
    ///     some is refused otherwise.
    package init(_ data: Data, expandsEntities: Bool = false) throws(Refusal) {
        let data = try CompressedDrawing.inflated(data)
        guard let text = XMLText(data) else { throw .malformed(XMLText.refusal(of: data)) }
        let isText = text.bytes.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A }
        guard isText else { throw .malformed("the text has control characters") }
        bytes = text.bytes
        self.expandsEntities = expandsEntities
    }

    /// The next token; `nil` at the end. Comments are passed over.
    package mutating func next() throws(Refusal) -> Token? {
        while place < bytes.count {
            if bytes[place] != UInt8(ascii: "<") {
                let start = place
                while place < bytes.count, bytes[place] != UInt8(ascii: "<") { place += 1 }
                return .text(try resolved(start..<place))
            } else if skip("<!--") {
                _ = try passed(to: "-->")
            } else if skip("<?") {
                return .instruction(text(try passed(to: "?>")))
            } else if skip("<![CDATA[") {
                return .text(text(try passed(to: "]]>")))
            } else if skip("<!DOCTYPE") {
                try passDocumentType()
            } else if skip("</") {
                let name = try name()
                skipSpace()
                guard skip(">") else { throw .malformed("an end tag does not end") }
                return .end(name: name)
            } else {
                place += 1
                return try startTag()
            }
        }
        return nil
    }

    private mutating func startTag() throws(Refusal) -> Token {
        let name = try name()
        var attributes: [Attribute] = []
        var known: Set<String> = []
        while true {
            let hasSpace = skipSpace()
            if skip("/>") { return .start(name: name, attributes: attributes, isEmpty: true) }
            if skip(">") { return .start(name: name, attributes: attributes, isEmpty: false) }
            guard hasSpace else { throw .malformed("a tag does not end") }
            let attribute = try self.name()
            skipSpace()
            guard skip("=") else { throw .malformed("an attribute has no value") }
            skipSpace()
            guard place < bytes.count, bytes[place] == 0x22 || bytes[place] == 0x27 else {
                throw .malformed("a value has no quotation marks")
            }
            guard let value = quoted(), !bytes[value].contains(UInt8(ascii: "<")) else {
                throw .malformed("a value does not end")
            }
            guard known.insert(attribute).inserted else {
                throw .malformed("an attribute is there twice")
            }
            attributes.append(Attribute(name: attribute, value: try resolved(value)))
        }
    }

    private mutating func name() throws(Refusal) -> String {
        let start = place
        while place < bytes.count, !" \t\r\n/>=<\"'&".utf8.contains(bytes[place]) { place += 1 }
        guard start < place, !"-.0123456789!?".utf8.contains(bytes[start]) else {
            throw .malformed("a name is missing")
        }
        return text(start..<place)
    }

    private mutating func passDocumentType() throws(Refusal) {
        var isInside = false
        while place < bytes.count {
            if skip("<!--") {
                _ = try passed(to: "-->")
            } else if skip("<?") {
                _ = try passed(to: "?>")
            } else if skip("<!ENTITY") {
                guard expandsEntities else { throw .tooComplex("the drawing defines entities") }
                try define()
            } else if bytes[place] == 0x22 || bytes[place] == 0x27 {
                guard let literal = quoted() else { break }
                // The name of a file with more of the document type.
                if !isInside, !literal.isEmpty { references.areIncomplete = true }
            } else {
                let byte = bytes[place]
                place += 1
                if byte == UInt8(ascii: "[") { isInside = true }
                if byte == UInt8(ascii: "]") { isInside = false }
                if byte == UInt8(ascii: "%") { references.areIncomplete = true }
                if byte == UInt8(ascii: ">"), !isInside { return }
            }
        }
        throw .malformed("the document type does not end")
    }

    /// Takes the definition of an entity, without its end.
    private mutating func define() throws(Refusal) {
        skipSpace()
        // For the document type itself.
        if skip("%") { return }
        let name = try name()
        skipSpace()
        guard place < bytes.count, bytes[place] == 0x22 || bytes[place] == 0x27 else {
            throw .tooComplex(XMLReferences.wordsForElements)
        }
        guard let value = quoted() else { throw .malformed("an entity does not end") }
        try references.define(name, as: bytes[value])
    }

    /// Reads a quoted literal, and returns its content; `nil` when the quotation does not end.
    private mutating func quoted() -> Range<Int>? {
        let start = place + 1
        guard let end = bytes[start...].firstIndex(of: bytes[place]) else { return nil }
        place = end + 1
        return start..<end
    }

    /// Text with its references resolved.
    private mutating func resolved(_ range: Range<Int>) throws(Refusal) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else { return text(range) }
        return String(decoding: try references.resolved(bytes[range]), as: UTF8.self)
    }

    // MARK: Bytes

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        let isThere = text.withUTF8Buffer { text in
            bytes.count - place >= text.count
                && bytes[place..<place + text.count].elementsEqual(text)
        }
        if isThere { place += text.utf8CodeUnitCount }
        return isThere
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = place
        while place < bytes.count, " \t\r\n".utf8.contains(bytes[place]) { place += 1 }
        return place > start
    }

    /// Skips `end`, and returns the range before it.
    private mutating func passed(to end: StaticString) throws(Refusal) -> Range<Int> {
        let start = place
        while place < bytes.count {
            if skip(end) { return start..<(place - end.utf8CodeUnitCount) }
            place += 1
        }
        throw .malformed("a part of the document does not end")
    }
}

/// The references in an XML document: characters, and entities that the document defines.
struct XMLReferences {
    /// More bytes than all entities together stand for in files that programs write.
    static let mostBytes = 8 << 20
    static let deepestNesting = 16

    static let wordsForElements = "it defines entities that stand for elements or files"

    private var texts: [String: [UInt8]] = [:]
    /// The number of bytes that entities have been expanded to so far.
    private var bytes = 0
    /// Whether more may be defined in places that are not read. Unknown entities are then empty.
    var areIncomplete = false

    /// - Parameter value: As it is written.
    mutating func define(_ name: String, as value: ArraySlice<UInt8>) throws(XMLScanner.Refusal) {
        // Characters are put in at once, entities only where this one is used.
        let text = try Self.replacing(value) { name, place throws(XMLScanner.Refusal) in
            guard name.hasPrefix("#") else { return Array(value[place]) }
            guard let scalar = Self.scalar(name) else { throw Self.unknown }
            return Array(String(scalar).utf8)
        }
        guard !text.contains(UInt8(ascii: "<")) else { throw .tooComplex(Self.wordsForElements) }
        // The first definition counts.
        if texts[name] == nil { texts[name] = text }
    }

    mutating func resolved(
        _ text: ArraySlice<UInt8>, depth: Int = 0
    ) throws(XMLScanner.Refusal) -> [UInt8] {
        try Self.replacing(text) { name, _ throws(XMLScanner.Refusal) in
            if let scalar = Self.scalar(name) { return Array(String(scalar).utf8) }
            guard let value = texts[name] else {
                if areIncomplete { return [] }
                throw Self.unknown
            }
            bytes += value.count + 1
            guard bytes <= Self.mostBytes, depth < Self.deepestNesting else {
                throw .tooComplex("its entities stand for too much text")
            }
            return try resolved(value[...], depth: depth + 1)
        }
    }

    private static let unknown = XMLScanner.Refusal.malformed("a reference stands for nothing")

    /// Text with something else in place of each reference, which `body` gets by its name and its place.
    private static func replacing(
        _ text: ArraySlice<UInt8>,
        _ body: (String, Range<Int>) throws(XMLScanner.Refusal) -> [UInt8]
    ) throws(XMLScanner.Refusal) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            guard let end = rest[mark...].prefix(256).firstIndex(of: UInt8(ascii: ";")) else {
                throw unknown
            }
            result += rest[..<mark]
            result += try body(
                String(decoding: rest[(mark + 1)..<end], as: UTF8.self), mark..<(end + 1))
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "lt": "<"
        case "gt": ">"
        case "amp": "&"
        case "quot": "\""
        case "apos": "'"
        case _ where reference.hasPrefix("#x"): scalar(reference.dropFirst(2), radix: 16)
        case _ where reference.hasPrefix("#"): scalar(reference.dropFirst(), radix: 10)
        default: nil
        }
    }

    private static func scalar(_ digits: Substring, radix: Int) -> Unicode.Scalar? {
        guard let number = UInt32(digits, radix: radix), let scalar = Unicode.Scalar(number),
            number >= 0x20 || number == 0x09 || number == 0x0A || number == 0x0D
        else { return nil }
        return scalar
    }
}
