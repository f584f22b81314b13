import Foundation
import HalcyonPixels
import HalcyonWork

/// Removes everything from an SVG drawing that could run or load something, so that it can be sent.
///
/// Only listed elements are kept, since browsers learn new ones; others are removed with their
/// content. The rest is written anew, so that nothing remains that two programs might read in two
/// ways: comments, instructions, document types, CDATA, references.
struct SVGSanitizer {
    /// Limits beyond the bytes, the elements and texts, and the levels of real drawings.
    static let mostBytes = 5 << 20
    static let mostNodes = 100_000
    static let deepestNesting = 256

    private var output = ""
    /// The text of the open style so far: comments and CDATA may stand between any two letters.
    private var style = ""
    private var open: [String] = []
    /// The number of open elements that are left out: the innermost ones.
    private var leftOut = 0
    private var nodes = 0
    private var isOver = false

    /// - Throws: `source_too_complex`, `source_damaged` for a malformed document, `source_format`
    ///   for another kind of document.
    static func sanitized(_ data: Data) throws(Failure) -> Data {
        try check(bytes: data.count)
        do throws(XMLScanner.Refusal) {
            var scanner = try XMLScanner(data)
            var sanitizer = SVGSanitizer()
            sanitizer.output.reserveCapacity(data.count)
            while let token = try scanner.next() { try sanitizer.take(token) }
            guard sanitizer.isOver else { throw .malformed("an element does not end") }
            return Data(sanitizer.output.utf8)
        } catch {
            switch error {
            case .malformed(let reason):
                throw Failure(.sourceDamaged, "The SVG data is damaged: \(reason).")
            case .tooComplex(let reason):
                throw Failure(.sourceTooComplex, reason.prefix(1).uppercased() + reason.dropFirst())
            }
        }
    }

    static func check(bytes: Int) throws(Failure) {
        guard bytes <= mostBytes else {
            throw Failure(.sourceTooComplex, "The drawing has more than \(mostBytes) bytes")
        }
    }

    static func check(_ image: Image) throws(Failure) {
        guard image.elementCount ?? 0 <= mostNodes else {
            throw Failure(.sourceTooComplex, "The drawing has more than \(mostNodes) elements")
        }
    }

    private mutating func take(_ token: XMLScanner.Token) throws(XMLScanner.Refusal) {
        nodes += 1
        guard nodes <= Self.mostNodes else {
            throw .tooComplex("the drawing has more than \(Self.mostNodes) parts")
        }
        switch token {
        case .instruction: break
        case .text(let text):
            if open.isEmpty {
                guard text.allSatisfy(\.isWhitespace) else {
                    throw .malformed("text stands outside of the drawing")
                }
            } else {
                write(text)
            }
        case .start(let name, let attributes, let isEmpty):
            guard !isOver else { throw .malformed("it has several roots") }
            try begin(name, attributes, isEmpty: isEmpty)
            isOver = isEmpty && open.isEmpty
        case .end(let name):
            guard open.popLast() == name else { throw .malformed("an element does not end") }
            isOver = open.isEmpty
            guard leftOut == 0 else {
                leftOut -= 1
                return
            }
            if Self.local(name) == "style" {
                output += Self.escaped(StyleSanitizer.sanitized(style) ?? "")
                style = ""
            }
            output += "</\(name)>"
        }
    }

    private mutating func begin(
        _ name: String, _ attributes: [XMLScanner.Attribute], isEmpty: Bool
    ) throws(XMLScanner.Refusal) {
        let local = String(name.split(separator: ":").last ?? "")
        if open.isEmpty, local != "svg" { throw .malformed("it is no drawing") }
        guard open.count < Self.deepestNesting else {
            throw .tooComplex("the drawing is nested deeper than \(Self.deepestNesting)")
        }
        let isKept =
            leftOut == 0 && Self.elements.contains(local) && !Self.changesLinks(local, attributes)
            // A style contains only text.
            && Self.local(open.last) != "style"
        if isKept {
            output += "<\(name)"
            for attribute in attributes {
                if let value = Self.value(of: attribute, on: local) {
                    output += " \(attribute.name)=\"\(Self.escaped(value))\""
                }
            }
            // Renderers do without it, browsers do not.
            if open.isEmpty, name == "svg", !attributes.contains(where: { $0.name == "xmlns" }) {
                output += " xmlns=\"http://www.w3.org/2000/svg\""
            }
            output += isEmpty ? "/>" : ">"
        }
        guard !isEmpty else { return }
        open.append(name)
        if !isKept { leftOut += 1 }
    }

    private mutating func write(_ text: String) {
        guard leftOut == 0 else { return }
        if Self.local(open.last) == "style" {
            style += text
        } else {
            output += Self.escaped(text)
        }
    }

    private static func local(_ name: String?) -> Substring? { name?.split(separator: ":").last }

    private static let elements: Set = [
        "a", "animate", "animateColor", "animateMotion", "animateTransform", "circle", "clipPath",
        "defs", "desc", "ellipse", "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite",
        "feConvolveMatrix", "feDiffuseLighting", "feDisplacementMap", "feDistantLight",
        "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG", "feFuncR", "feGaussianBlur",
        "feImage", "feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight",
        "feSpecularLighting", "feSpotLight", "feTile", "feTurbulence", "filter", "font",
        "font-face", "g", "glyph", "hkern", "image", "line", "linearGradient", "marker", "mask",
        "missing-glyph", "mpath", "path", "pattern", "polygon", "polyline", "radialGradient",
        "rect",
        "set", "stop", "style", "svg", "switch", "symbol", "text", "textPath", "title", "tref",
        "tspan", "use", "view", "vkern",
    ]

    /// Attributes that hold links, on any element that a browser may make of it.
    private static let links: Set = [
        "action", "background", "base", "data", "formaction", "ping", "poster", "src", "srcdoc",
        "srcset",
    ]

    private static let animations: Set = [
        "animate", "animateColor", "animateMotion", "animateTransform", "set",
    ]

    /// Whether an animation sets a link or an event handler.
    private static func changesLinks(
        _ element: String, _ attributes: [XMLScanner.Attribute]
    ) -> Bool {
        animations.contains(element)
            && attributes.contains { attribute in
                guard attribute.name.lowercased() == "attributename" else { return false }
                let name = attribute.value.split(separator: ":").last ?? ""
                let changed = name.lowercased().filter { !$0.isWhitespace }
                return changed == "href" || changed.hasPrefix("on") || links.contains(changed)
            }
    }

    /// Returns the sanitized value of an attribute; `nil` if it is removed.
    private static func value(of attribute: XMLScanner.Attribute, on element: String) -> String? {
        let name = attribute.localName.lowercased()
        // Namespace names are never loaded.
        if attribute.name == "xmlns" || attribute.name.hasPrefix("xmlns:") {
            return attribute.value
        }
        if name.hasPrefix("on") || links.contains(name) { return nil }
        switch name {
        case "href":
            let holdsPictures = element == "image" || element == "feImage"
            return StyleSanitizer.isInside(attribute.value, allowsData: holdsPictures)
                ? attribute.value : nil
        case "style": return StyleSanitizer.sanitized(attribute.value)
        default: return StyleSanitizer.loads(attribute.value) ? nil : attribute.value
        }
    }

    private static func escaped(_ text: String) -> String {
        XMLEscaping.escape(text, carriageReturn: "")
    }
}
