import Foundation
import Vips

/// A feature of drawings that not every librsvg draws. One that passes over it shows another picture, or
/// none, and says nothing; a newer one may draw it.
struct SVGFeature: Hashable, Sendable {
    let name: String
    /// Shapes that use it: green in the upper half of 8 × 8 pixels, and nothing in the lower one.
    private let trial: String

    private init(_ name: String, _ trial: String) { (self.name, self.trial) = (name, trial) }

    /// Throws for a drawing that would not look as it should.
    ///
    /// - Parameter shown: Whether each element has a part in what is drawn.
    /// - Throws: `ImageCodingError`.
    static func check(
        _ outline: SVGOutline, _ rules: [SVGStyleSheet.Rule], _ shown: [Bool]
    ) throws(ImageCodingError) {
        for feature in try SVGFeatureUses(outline, rules, shown).features where !feature.isDrawn {
            throw feature.refusal
        }
    }

    var refusal: ImageCodingError {
        .unsupported(.SVG, reason: "the installed librsvg does not draw \(name)")
    }

    private var isDrawn: Bool {
        let file = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>\(trial)</svg>".utf8)
        // What cannot be drawn is not.
        guard !trial.isEmpty,
            let image = try? VipsImage.load("svgload_buffer", bytes: file)
                .decodedToSRGB(alpha: true),
            let bitmap = try? Bitmap(rendering: image)
        else { return false }
        return (0..<8).contains { x in
            (0..<4).contains { y in
                let pixel = bitmap[x, y]
                return pixel.alpha > 0.1 && pixel.green > 0.9 && pixel.red < 0.3
            }
        } && (0..<8).allSatisfy { x in (5..<8).allSatisfy { bitmap[x, $0].alpha < 0.1 } }
    }

    private static let shape = "<rect width='8' height='4' fill='lime'"

    // MARK: Elements, rules, transformations

    static let dropShadow = SVGFeature(
        "<feDropShadow>",
        "<filter id='a'><feDropShadow dx='0' dy='0' stdDeviation='0'/></filter>\(shape) "
            + "filter='url(#a)'/>")
    /// Elements with words, by their names.
    static let words = [
        "textPath": SVGFeature(
            "<textPath>",
            "<path id='a' d='M0 4H8' fill='none'/><text font-size='8' fill='lime'>"
                + "<textPath href='#a'>M</textPath></text>"),
        "foreignObject": SVGFeature(
            "<foreignObject>",
            "<foreignObject width='8' height='8'>"
                + "<svg xmlns='http://www.w3.org/2000/svg'>\(shape)/></svg></foreignObject>"),
    ]

    static let transformOrigin = SVGFeature(
        "transform-origin", "\(shape) style='transform:rotate(180deg);transform-origin:4px 2px'/>")
    static let transformBox = SVGFeature(
        "transform-box",
        "\(shape) style='transform:rotate(180deg);transform-box:fill-box;transform-origin:center'/>"
    )
    static let variable = SVGFeature(
        "var()", "<g fill='none'><rect width='8' height='4' style='--a:lime;fill:var(--a)'/></g>")

    /// A style sheet in which a rule that counts makes a rectangle green.
    private static func sheet(_ name: String, _ text: String) -> SVGFeature {
        let shape = "<rect width='8' height='4' fill='none'/>"
        return SVGFeature(name, "<style>\(text)</style><g>\(shape)</g>")
    }

    /// Blocks of rules, by the name of their at-rule.
    static let blocks = [
        "@media": sheet("@media", "@media all{rect{fill:lime}}"),
        "@layer": sheet("@layer", "@layer a{rect{fill:lime}}"),
        "@scope": sheet("@scope", "@scope (g){rect{fill:lime}}"),
        "@container": SVGFeature("@container", ""),
    ]
    static let background = SVGFeature("this background", "")
    static let nesting = sheet("nested rules of CSS", "g{rect{fill:lime}}")
    static let selectors = [
        ":is(": sheet(":is()", ":is(rect){fill:lime}"),
        ":where(": sheet(":where()", ":where(rect){fill:lime}"),
        ":has(": sheet(":has()", "g:has(rect) rect{fill:lime}"),
    ]

    /// A function or unit of the property `transform` that attributes do not have; `nil` for those that librsvg
    /// always reads.
    static func ofTransform(_ value: String) -> SVGFeature? {
        if value.contains("var(") { return nil }
        let words = value.split { !($0.isLetter || $0.isNumber || "%._".contains($0)) }
            .map { $0.drop { $0.isNumber || $0 == "." } }
        guard let word = words.first(where: { !$0.isEmpty && !transforms.contains(String($0)) })
        else { return nil }
        return SVGFeature(
            "\(word) in a transform of CSS",
            "\(shape) x='-8' y='-4' style='transform:rotate(.5turn) translate(0%)'/>")
    }

    private static let transforms: Set = [
        "matrix", "translate", "translatex", "translatey", "scale", "scalex", "scaley", "rotate",
        "skew", "skewx", "skewy", "px", "deg", "rad", "grad", "none", "inherit", "initial",
        "e",
    ]

    // MARK: Colours

    /// The properties that are colours.
    static let colours: Set = [
        "fill", "stroke", "color", "stop-color", "flood-color", "lighting-color",
    ]

    /// The feature that a colour needs; `nil` for colours that librsvg always reads, and for such as no program does.
    static func ofColour(_ value: String) -> SVGFeature? {
        if systemColours.contains(value) { return SVGFeature("the system colour \(value)", "") }
        guard let bracket = value.firstIndex(of: "("), !value.hasPrefix("url") else { return nil }
        let name = value[..<bracket].drop { $0.isWhitespace }
        if let lime = functions[String(name)] { return colour("\(name)()", "\(name)(\(lime))") }
        guard name.hasPrefix("rgb") || name.hasPrefix("hsl") else { return nil }
        if value.contains("from ") { return colour("relative colours", "rgb(from lime r g b)") }
        if value.contains("none") { return colour("none in \(name)()", "rgb(none 255 0)") }
        if value.contains("calc(") { return colour("calc() in \(name)()", "rgb(0 calc(255) 0)") }
        return name.hasPrefix("hsl") && !value.contains("%")
            ? colour("numbers in \(name)()", "hsl(120 100 50)") : nil
    }

    private static func colour(_ name: String, _ value: String) -> SVGFeature {
        SVGFeature(name, "<g fill='none'><rect width='8' height='4' fill='\(value)'/></g>")
    }

    /// Functions of colours, with arguments for green.
    private static let functions = [
        "hwb": "120 0% 0%", "lab": "87.8% -79.3 81", "lch": "87.8% 113 134.4",
        "oklab": ".866 -.234 .179", "oklch": ".866 .295 142.5", "color": "srgb 0 1 0",
        "color-mix": "in srgb, lime, lime", "light-dark": "lime, red",
        "contrast-color": "red", "device-cmyk": "1 0 1 0",
    ]

    private static let systemColours: Set = [
        "accentcolor", "accentcolortext", "activetext", "buttonborder", "buttonface", "buttontext",
        "canvas", "canvastext", "field", "fieldtext", "graytext", "highlight", "highlighttext",
        "linktext", "mark", "marktext", "selecteditem", "selecteditemtext", "visitedtext",
        "window", "windowtext",
    ]

    // MARK: Properties

    /// Values of properties that need a feature.
    struct Use: Sendable {
        let properties: Set<String>
        /// Parts of values; without any, it is every value that changes something.
        let words: [String]
        let feature: SVGFeature
        /// The only element that it is about, where attributes of these names are others.
        var element: String?

        fileprivate init(
            _ properties: Set<String>, _ words: [String], _ trial: String, _ name: String? = nil
        ) {
            (self.properties, self.words) = (properties, words)
            feature = SVGFeature(name ?? properties.first ?? "", trial)
        }

        fileprivate static func of(_ element: String, _ use: Use) -> Use {
            var use = use
            use.element = element
            return use
        }

        func isNeeded(_ value: String) -> Bool {
            words.isEmpty
                ? !Self.idle.contains(value) : words.contains(where: { value.contains($0) })
        }

        private static let idle: Set = [
            "none", "0", "0px", "0deg", "0px 0px", "1", "1 1", "100%", "auto", "initial", "unset",
        ]
    }

    /// The properties of a shape's place and size.
    private static let lengths: Set = [
        "x", "y", "width", "height", "cx", "cy", "r", "rx", "ry",
    ]
    private static let allLengths = lengths.union([
        "stroke-width", "stroke-dashoffset", "font-size",
    ])

    /// The feature that the unit of a place or size needs; `nil` for units that librsvg always reads.
    static func ofLength(_ property: String, _ value: String) -> SVGFeature? {
        let unit = String(decoding: value.utf8.drop { $0 < 0x41 }, as: UTF8.self)
        guard units.contains(unit), allLengths.contains(property) else { return nil }
        return SVGFeature(
            "the unit \(unit)",
            "\(shape)/><path d='M0 7H8' stroke='red' stroke-width='0\(unit)'/>")
    }

    private static let units: Set = [
        "rem", "vw", "vh", "vmin", "vmax", "q", "ch", "ic", "lh", "rlh", "cap", "dvw", "dvh",
    ]

    private static let uses: [Use] = [
        Use(["translate"], [], "\(shape) y='-4' style='translate:0 4px'/>"),
        Use(["rotate"], [], "\(shape) x='-8' y='-4' style='rotate:180deg'/>"),
        Use(["scale"], [], "\(shape) y='-4' style='scale:1 -1'/>"),
        Use(["offset-path"], [], "\(shape) x='99' style='offset-path:path(\"M-99 0H0\")'/>"),
        Use(["mask-image"], [], masked("mask-image:linear-gradient(#000 50%,transparent 50%)")),
        Use(
            ["mask"], ["gradient", "luminance", "alpha", "-box", "image"],
            masked("mask:linear-gradient(#000 50%,transparent 50%)"), "this mask of CSS"),
        Use(["mask-mode"], ["alpha"], ""),
        Use(
            ["clip-path"],
            [
                "circle(", "ellipse(", "inset(", "polygon(", "path(", "rect(", "xywh(",
                "shape(",
            ], masked("clip-path:inset(0 0 50%)"), "shapes as a clip-path"),
        Use(
            ["mix-blend-mode"], ["plus-"],
            "\(shape)/><rect width='8' height='4' style='mix-blend-mode:plus-lighter'/>",
            "plus-lighter"),
        Use(
            ["d"], ["path("], "<path style='d:path(\"M0 0H8V4H0z\")' fill='lime'/>",
            "d as a property"),
        .of(
            "use",
            Use(
                ["x", "y"], [],
                "<defs>\(shape) y='-4' id='a'/></defs><use href='#a' style='y:4px'/>",
                "the place of <use> in CSS")),
    ]

    private static let terms = [
        "calc": "4px + 4px", "min": "8px,9px", "max": "8px,1px", "clamp": "1px,8px,9px",
    ].map { name, term in
        Use(
            allLengths, ["\(name)("],
            "<rect style='width:\(name)(\(term));height:4px' fill='lime'/>", "\(name)()")
    }

    private static func masked(_ style: String) -> String {
        "<rect width='8' height='8' fill='lime' style='\(style)'/>"
    }

    static let usesByProperty: [String: [Use]] = (uses + terms).reduce(into: [:]) { found, use in
        for property in use.properties { found[property, default: []].append(use) }
    }

    /// The properties whose values may need a feature without a function in them.
    static let properties = colours.union(usesByProperty.keys).union(allLengths).union([
        "opacity", "fill-opacity", "stroke-opacity", "stop-opacity", "display", "visibility",
        "transform", "transform-origin", "transform-box", "filter", "mask", "clip-path",
        "background", "background-color",
    ])

    /// Whether a feature may have to do with an attribute.
    static func mayMatter(_ name: String, _ value: String) -> Bool {
        // Attributes of some names are not those properties.
        guard properties.contains(name), !["translate", "rotate", "scale", "d"].contains(name)
        else { return false }
        if value.utf8.contains(UInt8(ascii: "(")) {
            return name != "transform" || value.contains("var(")
        }
        if allLengths.contains(name) { return ofLength(name, value.lowercased()) != nil }
        return colours.contains(name)
            ? systemColours.contains(value.lowercased())
            : usesByProperty[name]?.contains { $0.isNeeded(value.lowercased()) } ?? false
    }
}
