import Foundation

/// The tokens of an XML document, read strictly: what a browser would not take is damage here, and what only
/// a document type could explain is refused.
struct XMLScanner {
    enum Token: Equatable {
        /// Values are as they mean, without references.
        case start(name: String, attributes: [Attribute], isEmpty: Bool)
        case end(name: String)
        case text(String)
    }

    struct Attribute: Equatable {
        let name: String
        let value: String

        /// Without a prefix.
        var localName: Substring { name.split(separator: ":").last ?? "" }
    }

    enum Refusal: Error, Equatable {
        case malformed(String)
        case tooComplex(String)
    }

    private let bytes: [UInt8]
    private var place = 0

    /// - Parameter data: In UTF-8, UTF-16 with its mark, or, where it says so, ISO 8859-1.
    init(_ data: Data) throws(Refusal) {
        guard let text = Self.text(data) else {
            throw .malformed("the text is in no encoding that is read")
        }
        let isText = text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        guard isText else { throw .malformed("the text has control characters") }
        bytes = Array(text.utf8)
    }

    private static func text(_ data: Data) -> String? {
        let marks: [([UInt8], String.Encoding)] = [
            ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
            ([0xEF, 0xBB, 0xBF], .utf8),
        ]
        if let (mark, encoding) = marks.first(where: { data.starts(with: $0.0) }) {
            return String(data: data.dropFirst(mark.count), encoding: encoding)
        }
        let declaration = String(decoding: data.prefix(200).prefix { $0 != 0x3E }, as: UTF8.self)
            .lowercased()
        let isLatin = declaration.hasPrefix("<?xml") && declaration.contains("iso-8859-1")
        return String(data: data, encoding: isLatin ? .isoLatin1 : .utf8)
    }

    /// The next token; `nil` at the end. Comments and instructions are passed over.
    mutating func next() throws(Refusal) -> Token? {
        while place < bytes.count {
            if bytes[place] != UInt8(ascii: "<") {
                let start = place
                while place < bytes.count, bytes[place] != UInt8(ascii: "<") { place += 1 }
                return .text(try resolved(start..<place))
            } else if skip("<!--") {
                _ = try passed(to: "-->")
            } else if skip("<?") {
                _ = try passed(to: "?>")
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
            let quote = bytes[place]
            let start = place + 1
            guard let end = bytes[start...].firstIndex(of: quote),
                !bytes[start..<end].contains(UInt8(ascii: "<"))
            else { throw .malformed("a value does not end") }
            place = end + 1
            guard known.insert(attribute).inserted else {
                throw .malformed("an attribute is there twice")
            }
            attributes.append(Attribute(name: attribute, value: try resolved(start..<end)))
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

    /// Nothing of a document type is used. One that defines entities says something else without them.
    private mutating func passDocumentType() throws(Refusal) {
        var isInside = false
        while place < bytes.count {
            if skip("<!--") {
                _ = try passed(to: "-->")
            } else if skip("<!ENTITY") {
                throw .tooComplex("the drawing defines entities")
            } else if bytes[place] == 0x22 || bytes[place] == 0x27 {
                guard let end = bytes[(place + 1)...].firstIndex(of: bytes[place]) else { break }
                place = end + 1
            } else {
                let byte = bytes[place]
                place += 1
                if byte == UInt8(ascii: "[") { isInside = true }
                if byte == UInt8(ascii: "]") { isInside = false }
                if byte == UInt8(ascii: ">"), !isInside { return }
            }
        }
        throw .malformed("the document type does not end")
    }

    /// Text with the characters that its references stand for.
    private func resolved(_ range: Range<Int>) throws(Refusal) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else { return text(range) }
        var result = ""
        var rest = bytes[range]
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(decoding: rest[..<mark], as: UTF8.self)
            guard let end = rest[mark...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: rest[(mark + 1)..<end], as: UTF8.self))
            else { throw .malformed("a reference stands for nothing") }
            result.unicodeScalars.append(scalar)
            rest = rest[(end + 1)...]
        }
        return result + String(decoding: rest, as: UTF8.self)
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

    /// What stands before `end`.
    private mutating func passed(to end: StaticString) throws(Refusal) -> Range<Int> {
        let start = place
        while place < bytes.count {
            if skip(end) { return start..<(place - end.utf8CodeUnitCount) }
            place += 1
        }
        throw .malformed("a part of the document does not end")
    }
}
