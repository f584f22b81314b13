/// The elements of a drawing, with the attributes that its limits and features are about.
struct SVGOutline {
    struct Element {
        /// Without a prefix.
        let name: String
        let attributes: [String: String]
        /// What its links name: there may be one of SVG 2 and one of XLink.
        let links: [String]
        var children: [Int] = []
        /// Whether letters are right in the element, for elements that show them.
        var hasLetters = false
    }

    /// More elements than drawings have.
    static let mostElements = 400_000
    /// Deeper nesting than drawings have.
    static let deepestNesting = 200

    /// The elements in the order in which they begin; the first is the root.
    private(set) var elements: [Element] = []
    /// What each `style` element says.
    private(set) var styles: [String] = []
    /// Why it is not drawn, for what would bring in parts that are not seen here.
    private(set) var refusal: String?

    private var open: [Int] = []

    mutating func begin(
        _ name: String, _ attributes: [(name: String, value: String)]
    ) throws(XMLScanner.Refusal) {
        guard elements.count < Self.mostElements else { throw .tooComplex(Self.wordsForMany) }
        guard open.count < Self.deepestNesting else {
            throw .tooComplex("its elements are nested deeper than \(Self.deepestNesting)")
        }
        let local = name.split(separator: ":").last.map(String.init) ?? name
        var kept: [String: String] = [:]
        var links: [String] = []
        for (name, value) in attributes {
            switch name {
            case "href": links.append(value)
            case _ where Self.isKept(name, value): kept[name] = value
            case _ where local == "pattern" && SVGPatternSize.attributes.contains(name):
                kept[name] = value
            default: break
            }
        }
        if local == "include" { refusal = "it includes other files" }
        if local == "style" { styles.append("") }
        elements.append(Element(name: local, attributes: kept, links: links))
        if let parent = open.last { elements[parent].children.append(elements.count - 1) }
        open.append(elements.count - 1)
    }

    mutating func end() { open.removeLast() }

    mutating func add(_ text: String) {
        guard let index = open.last else { return }
        switch elements[index].name {
        case "style": styles[styles.count - 1] += text
        case "text", "tspan":
            if text.contains(where: { !$0.isWhitespace }) { elements[index].hasLetters = true }
        default: break
        }
    }

    /// Style sheets of other files are not loaded; those within the instruction would be.
    mutating func add(instruction: String) {
        if instruction.hasPrefix("xml-stylesheet"), instruction.lowercased().contains("data:") {
            refusal = "a style sheet is within a URL"
        }
    }

    static let wordsForMany = "it has more than \(mostElements) elements"

    /// Whether an attribute is looked at: of most elements none is.
    private static func isKept(_ name: String, _ value: String) -> Bool {
        if kept.contains(name) || SVGFeature.usesVariable(name, value) { return true }
        return SVGReferences.painting.contains(name)
            && value.utf8.contains { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "\\") }
    }

    private static let kept: Set = [
        "id", "style", "class", "viewBox", "width", "height", "transform", "transform-origin",
        "transform-box",
    ]
}
