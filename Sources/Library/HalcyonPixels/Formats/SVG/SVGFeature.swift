import Foundation
import Vips

/// Features of drawings that not every librsvg draws. One that passes over them shows another picture, or
/// none, and says nothing; a newer one may draw it.
enum SVGFeature: String, CaseIterable {
    case dropShadow = "<feDropShadow>"
    case transformOrigin = "transform-origin"
    case transformBox = "transform-box"
    case variable = "var()"
    case calculation = "calc()"
    case path = "d as a property"
    case textPath = "<textPath>"
    case foreignObject = "<foreignObject>"

    /// Throws for a drawing that would not look as it should.
    /// - Throws: `ImageCodingError`.
    static func check(_ outline: SVGOutline) throws(ImageCodingError) {
        let uses = try SVGFeatureUses(outline)
        for feature in allCases where uses.features.contains(feature) && missing.contains(feature) {
            throw .unsupported(
                .SVG, reason: "the installed librsvg does not draw \(feature.rawValue)")
        }
    }

    /// Whether an attribute has its value from a variable of CSS.
    static func usesVariable(_ name: String, _ value: String) -> Bool {
        value.contains("var(") && (properties.contains(name) || lengths.contains(name))
    }

    /// The properties of a shape's place and size.
    fileprivate static let lengths: Set = [
        "x", "y", "width", "height", "cx", "cy", "r", "rx", "ry",
    ]

    private static let properties: Set = [
        "fill", "stroke", "color", "stop-color", "flood-color", "lighting-color", "opacity",
        "fill-opacity", "stroke-opacity", "stop-opacity", "stroke-width", "font-size", "display",
        "visibility", "transform", "filter", "mask", "clip-path",
    ]

    /// Features that the installed librsvg does not draw.
    private static let missing = Set(allCases.filter { !$0.isDrawn })

    /// Whether a small picture that needs it shows anything.
    private var isDrawn: Bool {
        let file = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>\(trial)</svg>".utf8)
        // What cannot be drawn is not.
        guard
            let image = try? VipsImage.load("svgload_buffer", bytes: file)
                .decodedToSRGB(alpha: true),
            let bitmap = try? Bitmap(rendering: image)
        else { return false }
        return (0..<8).contains { x in (0..<4).contains { bitmap[x, $0].alpha > 0.1 } }
    }

    private var trial: String {
        let shape = "<rect width='8' height='4' fill='lime'"
        return switch self {
        case .dropShadow:
            "<filter id='a'><feDropShadow dx='0'/></filter>\(shape) filter='url(#a)'/>"
        case .transformOrigin:
            "\(shape) style='transform:rotate(180deg);transform-origin:4px 2px'/>"
        case .transformBox:
            "\(shape) style='transform:rotate(180deg);transform-box:fill-box;"
                + "transform-origin:center'/>"
        case .variable:
            "<g fill='none'><rect width='8' height='4' style='--a:lime;fill:var(--a)'/></g>"
        case .calculation: "<rect style='width:calc(4px + 4px);height:4px' fill='lime'/>"
        case .path: "<path style='d:path(&quot;M0 0H8V4H0z&quot;)' fill='lime'/>"
        case .textPath:
            "<path id='a' d='M0 6H8' fill='none'/>"
                + "<text font-size='8'><textPath href='#a'>M</textPath></text>"
        case .foreignObject:
            "<foreignObject width='8' height='8'>"
                + "<svg xmlns='http://www.w3.org/2000/svg'>\(shape)/></svg></foreignObject>"
        }
    }
}

/// The features of ``SVGFeature`` that a drawing's look depends on.
private struct SVGFeatureUses {
    private(set) var features: Set<SVGFeature> = []

    init(_ outline: SVGOutline) throws(ImageCodingError) {
        let names = Set(outline.elements.map(\.name))
        if names.contains("feDropShadow") { features.insert(.dropShadow) }
        readWhatStandsAlone(outline, names)
        var rules: [(keys: Set<SVGReferences.Name>, style: SVGDeclarations)] = []
        for sheet in outline.styles where Self.mayMatter(sheet) {
            for rule in try SVGStyleSheet(sheet).rules {
                let style = SVGDeclarations(rule.style)
                take(style)
                guard style.origin != nil else { continue }
                let selectors = rule.selector.split(separator: UInt8(ascii: ","))
                rules.append((Set(selectors.map(SVGReferences.key)), style))
            }
        }
        for element in outline.elements {
            guard let own = try Self.declarations(of: element) else { continue }
            take(own)
            if Self.painted.contains(element.name), own.calculates {
                features.insert(.calculation)
            }
            guard own.turns, !rules.isEmpty else { continue }
            let keys = SVGReferences.keys(of: element).subtracting([Array("*".utf8)])
            for rule in rules where !rule.keys.isDisjoint(with: keys) {
                if let origin = rule.style.origin { features.insert(origin) }
            }
        }
    }

    private mutating func take(_ style: SVGDeclarations) {
        if style.usesVariable { features.insert(.variable) }
        if style.values["d"]?.hasPrefix("path(") ?? false { features.insert(.path) }
        if style.turns, let origin = style.origin { features.insert(origin) }
    }

    /// Text on a path, and what is of another language, may be missing from a drawing, but not be all of it.
    private mutating func readWhatStandsAlone(_ outline: SVGOutline, _ names: Set<String>) {
        guard !names.isDisjoint(with: ["textPath", "foreignObject"]),
            names.isDisjoint(with: Self.painted)
        else { return }
        var (paths, hasLetters) = (0, false)
        for element in outline.elements {
            switch element.name {
            case "path": paths += 1
            // It has a path that need not be painted.
            case "textPath": paths -= 1
            case "text", "tspan": hasLetters = hasLetters || element.hasLetters
            default: break
            }
        }
        guard paths <= 0, !hasLetters else { return }
        if names.contains("textPath") { features.insert(.textPath) }
        if names.contains("foreignObject") { features.insert(.foreignObject) }
    }

    private static let painted: Set = [
        "rect", "circle", "ellipse", "line", "polyline", "polygon", "image", "use",
    ]

    private static func mayMatter(_ sheet: String) -> Bool {
        let sheet = sheet.lowercased()
        return ["var(", "path(", "transform-origin", "transform-box"].contains {
            sheet.contains($0)
        }
    }

    /// An element's attributes as a style has them; `nil` where they say nothing of this.
    private static func declarations(
        of element: SVGOutline.Element
    ) throws(ImageCodingError) -> SVGDeclarations? {
        var declarations: SVGDeclarations?
        for (name, value) in element.attributes {
            let isTransform = name.hasPrefix("transform")
            if isTransform || SVGFeature.usesVariable(name, value) {
                declarations = declarations ?? SVGDeclarations()
                declarations?.values[name] = value.lowercased()
            }
        }
        guard let style = element.attributes["style"],
            ["transform", "var(", "calc(", "path("].contains(where: { style.contains($0) })
        else { return declarations }
        let own = SVGDeclarations(try SVGStyle(style))
        // A style counts more than an attribute.
        return SVGDeclarations(
            values: (declarations?.values ?? [:]).merging(own.values) { _, style in style })
    }
}

/// The properties that a style sets, in small letters.
private struct SVGDeclarations {
    var values: [String: String] = [:]

    init(values: [String: String] = [:]) { self.values = values }

    init(_ style: SVGStyle) {
        for declaration in style.words.split(separator: UInt8(ascii: ";")) {
            guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: declaration[..<colon], as: UTF8.self)
            values[name.trimmingCharacters(in: .whitespacesAndNewlines)] = String(
                decoding: declaration[declaration.index(after: colon)...], as: UTF8.self
            ).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    var usesVariable: Bool {
        values.contains { !$0.key.hasPrefix("--") && $0.value.contains("var(") }
    }

    /// Whether a place or size is a term.
    var calculates: Bool {
        values.contains { SVGFeature.lengths.contains($0.key) && $0.value.hasPrefix("calc(") }
    }

    /// Whether what is drawn is transformed in such a way that it matters about which place.
    var turns: Bool {
        guard let transform = values["transform"] else { return false }
        let functions = transform.split(separator: ")").compactMap { part in
            part.split(separator: "(", omittingEmptySubsequences: false).first.map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines.union([","]))
            }
        }
        return transform.contains("(")
            && !functions.allSatisfy { $0.isEmpty || $0.hasPrefix("translate") }
    }

    /// By what a transformation is about another place than the origin of the drawing's units; `nil` when it
    /// is not.
    var origin: SVGFeature? {
        if let box = values["transform-box"], box.hasSuffix("-box"), box != "view-box" {
            return .transformBox
        }
        guard let origin = values["transform-origin"] else { return nil }
        let isZero = origin.split { " ,\t\n".contains($0) }.allSatisfy { length in
            ["left", "top"].contains(length) || length.numbersAreZero
        }
        return isZero ? nil : .transformOrigin
    }
}

extension Substring {
    /// Whether a length is nothing.
    fileprivate var numbersAreZero: Bool {
        let numbers = String(self).numbers
        return !numbers.isEmpty && numbers.allSatisfy { $0 == 0 }
    }
}
