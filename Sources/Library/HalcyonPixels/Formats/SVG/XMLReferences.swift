/// What the references in an XML document stand for: characters, and entities that the document defines.
struct XMLReferences {
    /// More bytes than all entities together stand for in files that programs write.
    static let mostBytes = 8 << 20
    /// How many entities may be within each other.
    static let deepestNesting = 16

    static let wordsForElements = "it defines entities that stand for elements or files"

    private var texts: [String: [UInt8]] = [:]
    /// What entities have stood for until now.
    private var bytes = 0
    /// Whether more may be defined where it is not read. What is not known stands for nothing then.
    var areIncomplete = false

    /// - Parameter value: As it is written.
    mutating func define(_ name: String, as value: ArraySlice<UInt8>) throws(XMLScanner.Refusal) {
        // Characters are put in at once, entities only where this one is used.
        let text = try withCharacters(value)
        guard !text.contains(UInt8(ascii: "<")) else { throw .tooComplex(Self.wordsForElements) }
        // The first definition counts.
        if texts[name] == nil { texts[name] = text }
    }

    mutating func resolved(_ text: ArraySlice<UInt8>) throws(XMLScanner.Refusal) -> [UInt8] {
        var result: [UInt8] = []
        try resolve(text, into: &result, depth: 0)
        return result
    }

    private mutating func resolve(
        _ text: ArraySlice<UInt8>, into result: inout [UInt8], depth: Int
    ) throws(XMLScanner.Refusal) {
        var rest = text
        while let reference = try Self.next(in: rest) {
            result += rest[..<reference.place.lowerBound]
            rest = rest[reference.place.upperBound...]
            if let scalar = Self.scalar(reference.name) {
                result += Array(String(scalar).utf8)
            } else if let value = texts[reference.name] {
                bytes += value.count + 1
                guard bytes <= Self.mostBytes, depth < Self.deepestNesting else {
                    throw .tooComplex("its entities stand for too much text")
                }
                try resolve(value[...], into: &result, depth: depth + 1)
            } else if !areIncomplete {
                throw .malformed("a reference stands for nothing")
            }
        }
        result += rest
    }

    /// Text in which characters stand in place of references to them, and to them only.
    private func withCharacters(
        _ text: ArraySlice<UInt8>
    ) throws(XMLScanner.Refusal) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let reference = try Self.next(in: rest) {
            result += rest[..<reference.place.lowerBound]
            if reference.name.hasPrefix("#") {
                guard let scalar = Self.scalar(reference.name) else {
                    throw .malformed("a reference stands for nothing")
                }
                result += Array(String(scalar).utf8)
            } else {
                result += rest[reference.place]
            }
            rest = rest[reference.place.upperBound...]
        }
        return result + rest
    }

    private static func next(
        in text: ArraySlice<UInt8>
    ) throws(XMLScanner.Refusal) -> (name: String, place: Range<Int>)? {
        guard let mark = text.firstIndex(of: UInt8(ascii: "&")) else { return nil }
        guard let end = text[mark...].prefix(256).firstIndex(of: UInt8(ascii: ";")) else {
            throw .malformed("a reference stands for nothing")
        }
        return (String(decoding: text[(mark + 1)..<end], as: UTF8.self), mark..<(end + 1))
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
