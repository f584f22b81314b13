import Foundation
import HalcyonWork

/// An SVG file as it is drawn: read once, strictly, and written anew, so that librsvg sees just what the
/// limits were checked on. Nothing is left of what two programs may read in two ways: document types
/// and entities, comments, CDATA, instructions, attributes of other vocabularies, encodings.
struct SVGDocument {
    /// The bytes that are drawn.
    private(set) var data = Data()
    let elementCount: Int
    /// The number of elements that are drawn, copies included.
    let drawnCount: Int
    /// Whether filters are drawn, which hold pictures as large as the whole.
    let hasFilters: Bool
    /// Bytes that pictures within the drawing take at once: as they are decoded, and as they are drawn.
    private let pictureMemory: Int

    /// - Parameter limits: Of pictures within the drawing.
    /// - Throws: `ImageCodingError`: what is not well-formed, what could do things that nobody can foresee,
    ///   and more elements, deeper ones, or larger pictures than are drawn.
    init(_ file: Data, limits: DecodingLimits = .default) throws(ImageCodingError) {
        var reader = try Reader.reading(file)
        if let reason = reader.outline.refusal { throw .unsupported(.SVG, reason: reason) }
        var rules: [SVGStyleSheet.Rule] = []
        for sheet in reader.outline.styles { rules += try SVGStyleSheet(sheet).rules }
        let references = try SVGReferences(reader.outline, rules)
        try SVGFeature.check(reader.outline, rules, references.shown())
        let root = try SVGRootStyle(reader.outline, rules)
        let changes = SVGPatternSize.changes(in: reader.outline)
        if !changes.isEmpty { reader = try Reader.reading(file, changes) }
        let most = SVGOutline.mostElements
        elementCount = reader.outline.elements.count
        let drawn = references.walk(upTo: most)
        guard drawn.count <= most else {
            throw .tooComplex(.SVG, reason: SVGOutline.wordsForMany)
        }
        (drawnCount, hasFilters) = (drawn.count, drawn.hasFilters)
        pictureMemory = try SVGPictures.pixelCount(in: reader.outline, limits: limits)
            .clampedTimes(8)
        if let limit = limits.maximumMemory, pictureMemory > limit {
            throw .tooMuchMemory(needed: pictureMemory, limit: limit)
        }
        data = try SVGIntrinsicSize.sized(
            Data(reader.output), root.backdrop(), root, limits: limits)
    }

    /// Bytes of memory that drawing takes beside the result: tiles, steps of a filter, and pictures.
    func memory(drawnAt size: PixelSize) -> Int {
        let tiles = min(size.pixelCount, 2000 * 2000).clampedTimes(4 * 3)
        let filters = hasFilters ? size.pixelCount.clampedTimes(4 * 9) : 0
        return tiles.clampedPlus(filters).clampedPlus(pictureMemory)
    }
}

/// Takes the tokens of a drawing, checks that they belong together, and writes them anew.
private struct Reader {
    var output: [UInt8] = []
    var outline = SVGOutline()
    private var open: [String] = []
    private(set) var isOver = false
    /// Attributes that have other values than in the file, by the index of the element.
    private var changes: [Int: [String: String]] = [:]

    static func reading(
        _ file: Data, _ changes: [Int: [String: String]] = [:]
    ) throws(ImageCodingError) -> Reader {
        var reader = Reader()
        reader.changes = changes
        do throws(XMLScanner.Refusal) {
            var scanner = try XMLScanner(file, expandsEntities: true)
            reader.output.reserveCapacity(file.count + file.count / 16)
            while let token = try scanner.next() { try reader.take(token) }
            guard reader.isOver else { throw .malformed("an element does not end") }
        } catch {
            switch error {
            case .malformed(let reason): throw .corrupt(.SVG, reason: reason)
            case .tooComplex(let reason): throw .tooComplex(.SVG, reason: reason)
            }
        }
        return reader
    }

    mutating func take(_ token: XMLScanner.Token) throws(XMLScanner.Refusal) {
        switch token {
        case .instruction(let text):
            outline.add(instruction: text)
        case .text(let text):
            guard !open.isEmpty else {
                guard text.utf8.allSatisfy({ " \t\r\n".utf8.contains($0) }) else {
                    throw .malformed("text stands outside of the drawing")
                }
                return
            }
            outline.add(text)
            // A style sheet that does not count is not written.
            if !outline.isInUnusedStyle { write(text) }
        case .start(let name, let attributes, let isEmpty):
            guard !isOver else { throw .malformed("it has several roots") }
            try begin(name, attributes.filter(Self.isKept), isEmpty: isEmpty)
            isOver = isEmpty && open.isEmpty
        case .end(let name):
            guard open.popLast() == name else { throw .malformed("an element does not end") }
            outline.end()
            output += Array("</\(name)>".utf8)
            isOver = open.isEmpty
        }
    }

    private mutating func begin(
        _ name: String, _ attributes: [XMLScanner.Attribute], isEmpty: Bool
    ) throws(XMLScanner.Refusal) {
        output.append(UInt8(ascii: "<"))
        output += name.utf8
        var values: [(name: String, value: String)] = []
        let changed = changes[outline.elements.count] ?? [:]
        for attribute in attributes {
            // As every reader of XML takes the ends of lines in values.
            let value = changed[attribute.name] ?? Self.spaced(attribute.value)
            output += Array(" \(attribute.name)=\"".utf8)
            write(value)
            output.append(UInt8(ascii: "\""))
            values.append((String(attribute.localName), value))
        }
        output += Array((isEmpty ? "/>" : ">").utf8)
        try outline.begin(name, values)
        if isEmpty { outline.end() } else { open.append(name) }
    }

    /// Whether an attribute may have to do with how the drawing looks: nothing is drawn by those with a prefix
    /// but links and the ways of XML itself.
    private static func isKept(_ attribute: XMLScanner.Attribute) -> Bool {
        guard let colon = attribute.name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let prefix = attribute.name[..<colon]
        return prefix == "xml" || prefix == "xmlns" || attribute.localName == "href"
    }

    private static func spaced(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 < 0x20 }) else { return value }
        return String(decoding: value.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }

    private mutating func write(_ text: String) {
        output += XMLEscaping.escape(text, carriageReturn: "&#13;").utf8
    }
}
