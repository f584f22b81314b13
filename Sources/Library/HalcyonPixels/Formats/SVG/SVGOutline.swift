import Foundation

/// The elements of a drawing, with the attributes that its limits and features are about.
struct SVGOutline {
    struct Element {
        /// Without a prefix.
        let name: String
        let attributes: [String: String]
        /// The targets of its links: there may be one of SVG 2 and one of XLink.
        let links: [String]
        var children: [Int] = []
        /// Whether letters are right in the element, for elements that show them.
        var hasLetters = false

        var isHidden: Bool {
            let style = (attributes["style"] ?? "").filter { !$0.isWhitespace }
            return style.contains("display:")
                ? style.contains("display:none") : attributes["display"] == "none"
        }

        /// Whether it may be left out for a language, or an extension, that is not there.
        var isConditional: Bool {
            ["systemLanguage", "requiredExtensions", "requiredFeatures"].contains {
                !(attributes[$0] ?? "").isEmpty
            }
        }
    }

    /// More elements than drawings have.
    static let mostElements = 400_000
    /// Deeper nesting than drawings have.
    static let deepestNesting = 200

    /// The elements in the order in which they begin; the first is the root.
    private(set) var elements: [Element] = []
    /// The content of each `style` element.
    private(set) var styles: [String] = []
    /// The reason for refusing the drawing, if it would load parts that are not seen here.
    private(set) var refusal: String?

    /// Whether the text that follows is of a style sheet for other media, or in another language than CSS.
    private(set) var isInUnusedStyle = false

    private var open: [Int] = []

    mutating func begin(
        _ name: String, _ attributes: [(name: String, value: String)]
    ) throws(XMLScanner.Refusal) {
        guard elements.count < Self.mostElements else { throw .tooComplex(Self.wordsForMany) }
        guard open.count < Self.deepestNesting else {
            throw .tooComplex("its elements are nested deeper than \(Self.deepestNesting)")
        }
        let local = name.split(separator: ":").last.map(String.init) ?? name
        // Colours that count where another one is not understood.
        let hasStyle = attributes.contains { ["style", "class"].contains($0.name) }
        var kept: [String: String] = [:]
        var links: [String] = []
        for (name, value) in attributes {
            switch name {
            case "href": links.append(value)
            case _ where Self.isKept(name, value) || elements.isEmpty: kept[name] = value
            case _ where hasStyle && SVGFeature.colours.contains(name): kept[name] = value
            case _ where local == "pattern" && SVGPatternSize.attributes.contains(name):
                kept[name] = value
            default: break
            }
        }
        if local == "include" { refusal = "it includes other files" }
        if local == "style" {
            styles.append("")
            isInUnusedStyle = attributes.contains { name, value in
                name == "media" && CSSMedia.isOther(value)
                    || name == "type" && !["", "text/css"].contains(value.lowercased())
            }
        }
        elements.append(Element(name: local, attributes: kept, links: links))
        if let parent = open.last { elements[parent].children.append(elements.count - 1) }
        open.append(elements.count - 1)
    }

    mutating func end() {
        open.removeLast()
        isInUnusedStyle = false
    }

    mutating func add(_ text: String) {
        guard let index = open.last else { return }
        switch elements[index].name {
        case "style" where !isInUnusedStyle: styles[styles.count - 1] += text
        case "text", "tspan", "textPath", "foreignObject":
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
        if kept.contains(name) || SVGFeature.mayMatter(name, value) { return true }
        return SVGReferences.painting.contains(name)
            && value.utf8.contains { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "\\") }
    }

    private static let kept: Set = [
        "id", "style", "class", "viewBox", "width", "height", "transform", "transform-origin",
        "transform-box", "display", "systemLanguage", "requiredExtensions", "requiredFeatures",
    ]
}

/// The tiles of patterns that are far larger than what they fill. librsvg draws a tile whole, and not at all where it
/// does not fit into a picture, so that such a pattern has no tile but what is seen of it.
enum SVGPatternSize {
    /// The attributes of a pattern that decide the size of its tile.
    static let attributes: Set = ["x", "y", "patternUnits", "patternTransform"]

    /// Tiles that are no more than so many times as large as what is seen of them stay as they are.
    private static let mostSurplus = 4.0

    /// Other values of attributes, by the index of the element.
    static func changes(in outline: SVGOutline) -> [Int: [String: String]] {
        guard let root = outline.elements.first,
            outline.elements.contains(where: { $0.name == "pattern" })
        else { return [:] }
        let seen = seenSize(root)
        // What is reduced, more than the size of the drawing is seen of; of what is enlarged less.
        let isScaled = isScaled(outline)
        var changes: [Int: [String: String]] = [:]
        for (index, pattern) in outline.elements.enumerated() where pattern.name == "pattern" {
            let isOfBoxes = units(of: pattern, in: outline) != "userSpaceOnUse"
            guard pattern.attributes["viewBox"] == nil, isOfBoxes || !isScaled,
                !isScaling(pattern.attributes["patternTransform"] ?? "")
            else { continue }
            for (name, start, side) in [("width", "x", seen.width), ("height", "y", seen.height)] {
                guard let length = number(pattern.attributes[name]) else { continue }
                let offset = abs(number(pattern.attributes[start]) ?? 0)
                // A stroke goes beyond the box of its shape.
                let most = (isOfBoxes ? 2 : 2 * side) + offset
                if length > mostSurplus * most {
                    changes[index, default: [:]][name] = "\(most)"
                }
            }
        }
        return changes
    }

    /// Whether parts of the drawing have other units than the whole.
    private static func isScaled(_ outline: SVGOutline) -> Bool {
        outline.styles.contains(where: isScaling)
            || outline.elements.dropFirst().contains { element in
                element.attributes["viewBox"] != nil
                    || ["transform", "style"].contains {
                        isScaling(element.attributes[$0] ?? "")
                    }
            }
    }

    /// The size of the drawing in its own units.
    private static func seenSize(_ root: SVGOutline.Element) -> (width: Double, height: Double) {
        let box = (root.attributes["viewBox"] ?? "").numbers
        if box.count == 4, box[2] > 0, box[3] > 0 { return (box[2], box[3]) }
        let size = SVGIntrinsicSize.defaultSize
        return (
            number(root.attributes["width"]) ?? Double(size.width),
            number(root.attributes["height"]) ?? Double(size.height)
        )
    }

    private static func units(of pattern: SVGOutline.Element, in outline: SVGOutline) -> String? {
        var pattern = pattern
        // Patterns take from others what they do not say themselves; these may be in circles.
        for _ in 0..<16 {
            if let units = pattern.attributes["patternUnits"] { return units }
            guard let link = pattern.links.first, link.hasPrefix("#"),
                let next = outline.elements.first(where: {
                    $0.attributes["id"] == String(link.dropFirst())
                })
            else { return nil }
            pattern = next
        }
        return nil
    }

    /// A number with or without the unit of pixels; `nil` for other lengths.
    private static func number(_ text: String?) -> Double? {
        guard let text = text?.trimmingCharacters(in: .whitespaces) else { return nil }
        let number = text.hasSuffix("px") ? text.dropLast(2) : text[...]
        return Double(number).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func isScaling(_ transform: String) -> Bool {
        transform.contains("scale") || transform.contains("matrix")
    }
}

extension String {
    /// The numbers in a text, whatever is between them.
    var numbers: [Double] {
        split { !"+-.eE0123456789".contains($0) }.compactMap { Double($0) }
    }
}
