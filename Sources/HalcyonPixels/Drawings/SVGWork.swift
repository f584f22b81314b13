import Foundation

/// Adds up the work of the elements of a drawing, with all that they refer to.
///
/// What is drawn more than once counts as often: by `use` and `feImage`, for each shape that is filled with
/// a pattern, for each vertex with a marker.
struct SVGWork {
    /// What one element takes, with all that is in it and that it refers to.
    struct Share: Sendable {
        var elements = 0
        /// What does not depend on the size of the picture.
        var nanoseconds = 0.0
        /// Nanoseconds for each pixel.
        var filters = Growing()
        /// Nanoseconds for each pixel that putting layers on top of each other takes.
        var layering = 0.0
        /// Nanoseconds for each pixel that painting takes when each shape is as large as the whole.
        var painting = 0.0
        /// Pictures that are held at once, one on top of the other.
        var layers = 0
        /// Results of filters with names, which are kept until the filter ends.
        var results = 0
        /// What inherits the paint and the markers of the elements around it.
        var shapes = 0
        var vertices = 0
        /// How deep the outermost element is that refers to itself through this one.
        fileprivate var circle = Int.max

        mutating func add(_ other: Share, times count: Int = 1) {
            let factor = Double(count)
            elements = elements.clampedPlus(other.elements.clampedTimes(count))
            nanoseconds = (nanoseconds + other.nanoseconds * factor).bounded
            filters.add(other.filters, times: factor)
            layering = (layering + other.layering * factor).bounded
            painting = (painting + other.painting * factor).bounded
            layers = max(layers, other.layers)
            results = max(results, other.results)
            shapes = shapes.clampedPlus(other.shapes.clampedTimes(count))
            vertices = vertices.clampedPlus(other.vertices.clampedTimes(count))
            circle = min(circle, other.circle)
        }

        /// The same where nothing of it inherits from where it is referred to.
        fileprivate var apart: Share {
            var share = self
            (share.shapes, share.vertices) = (0, 0)
            return share
        }
    }

    /// A number that grows with the enlargement of what it is about.
    struct Growing: Sendable {
        var constant = 0.0
        var linear = 0.0
        var square = 0.0

        /// Without enlargement.
        var value: Double { constant + linear + square }

        mutating func add(_ other: Growing, times factor: Double) {
            constant = (constant + other.constant * factor).bounded
            linear = (linear + other.linear * factor).bounded
            square = (square + other.square * factor).bounded
        }

        func enlarged(by scale: Double) -> Growing {
            let scale = scale.bounded
            return Growing(
                constant: constant, linear: (linear * scale).bounded,
                square: (square * scale * scale).bounded)
        }
    }

    private enum Known {
        /// Its share is being added up, at this depth.
        case open(depth: Int)
        case share(Share)
    }

    private let outline: SVGOutline
    private let references: SVGReferences
    private let pictures: SVGPictures
    private var known: [Int: Known] = [:]
    private var visits = 0

    init(_ outline: SVGOutline, _ pictures: SVGPictures) throws(ImageCodingError) {
        self.outline = outline
        self.pictures = pictures
        references = try SVGReferences(outline)
    }

    /// What drawing the whole takes.
    mutating func total() -> Share {
        outline.elements.isEmpty ? Share() : share(of: 0, depth: 0)
    }

    /// - Parameter depth: How many references and elements were followed up to here.
    private mutating func share(of index: Int, depth: Int) -> Share {
        visits += 1
        switch known[index] {
        case .share(let share): return share
        // What refers to itself, however indirectly, is not drawn once more.
        case .open(let depth): return Share(circle: depth)
        case nil: break
        }
        guard depth < 2 * SVGOutline.deepestNesting, visits < 10 * SVGOutline.mostElements else {
            return Share(elements: SVGOutline.mostElements + 1)
        }
        known[index] = .open(depth: depth)
        var share = sum(of: index, depth: depth)
        // What was left out because of a circle around this element belongs to it elsewhere.
        if share.circle < depth {
            known[index] = nil
        } else {
            share.circle = .max
            known[index] = .share(share)
        }
        return share
    }

    private mutating func sum(of index: Int, depth: Int) -> Share {
        let element = outline.elements[index]
        var share = Self.own(element)
        share.nanoseconds += pictures.nanosecondsToDraw(index)
        for child in element.children
        where !Self.definitions.contains(outline.elements[child].name) {
            // Enough is known.
            if share.elements > SVGOutline.mostElements { break }
            share.add(self.share(of: child, depth: depth + 1))
        }
        if Self.copying.contains(element.name) {
            for place in references.targets(of: index) {
                let copied = self.share(of: place, depth: depth + 1)
                share.add(element.name == "use" ? copied : copied.apart)
            }
        }
        let shapes = share.shapes
        let vertices = share.vertices
        for place in references.places(for: index) where share.elements <= SVGOutline.mostElements {
            let name = outline.elements[place].name
            if name.hasSuffix("Gradient") {
                share.elements = share.elements.clampedPlus(1)
                share.painting = (share.painting + 5 * Double(share.shapes)).bounded
                continue
            }
            var other = self.share(of: place, depth: depth + 1).apart
            switch name {
            case "pattern": share.add(other, times: shapes)
            case "marker":
                other.nanoseconds += 60_000
                share.add(other, times: vertices)
            default: share.add(other)
            }
        }
        if let layer = references.layer(of: index) {
            share.layers += 1
            share.layering += layer
        }
        share.filters.add(Growing(constant: references.filters(of: index)), times: 1)
        let scale = Self.enlargement(element.attributes["transform"])
        share.filters = share.filters.enlarged(by: scale)
        return share
    }

    /// What is drawn only where something refers to it.
    static let definitions: Set = [
        "defs", "symbol", "pattern", "mask", "clipPath", "marker", "filter", "linearGradient",
        "radialGradient", "style", "metadata", "title", "desc", "script",
    ]

    /// What draws something else that its `href` names.
    private static let copying: Set = ["use", "feImage", "pattern"]

    private static let shapes: Set = [
        "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan",
    ]

    /// Nanoseconds for each pixel that a function of a filter takes, at most.
    static let filterFunction = 260.0

    /// What an element takes without what is in it.
    private static func own(_ element: SVGOutline.Element) -> Share {
        var share = Share(elements: 1)
        if element.name.hasPrefix("fe") {
            share.filters = nanoseconds(of: element)
            share.results = element.attributes["result"] == nil ? 0 : 1
        }
        if element.name == "image" { share.painting = 10 }
        guard shapes.contains(element.name) else { return share }
        share.shapes = 1
        share.painting = 1
        share.vertices = element.name == "line" ? 2 : element.vertices
        let letters = Double(element.letters.all)
        // Long texts take more for each letter, and letters that the font lacks are looked for in others.
        share.nanoseconds =
            letters * 20_000 + letters * letters * 14
            + Double(element.letters.foreign.count) * 500_000
        return share
    }

    /// What a step of a filter takes for each pixel.
    private static func nanoseconds(of primitive: SVGOutline.Element) -> Growing {
        func numbers(_ name: String, _ otherwise: Double) -> (Double, Double) {
            let values = (primitive.attributes[name] ?? "").numbers.map(abs)
            return (
                values.first ?? otherwise, values.dropFirst().first ?? values.first ?? otherwise
            )
        }
        switch primitive.name {
        case "feGaussianBlur", "feDropShadow": return Growing(constant: 260)
        case "feTurbulence": return Growing(constant: 100 + 100 * numbers("numOctaves", 1).0)
        case "feMorphology":
            // As many pixels as a window of 2 x + 1 times 2 y + 1 has.
            let (x, y) = numbers("radius", 0)
            return Growing(constant: 60, linear: 20 * (x + y), square: 40 * x * y)
        case "feConvolveMatrix":
            let (x, y) = numbers("order", 3)
            return Growing(constant: 50 + 20 * x * y)
        case "feDisplacementMap": return Growing(constant: 1000)
        case "feDiffuseLighting", "feSpecularLighting": return Growing(constant: 160)
        case "feMergeNode", "feFuncR", "feFuncG", "feFuncB", "feFuncA", "fePointLight",
            "feSpotLight", "feDistantLight":
            return Growing()
        default: return Growing(constant: 120)
        }
    }

    /// By how much a transformation may enlarge: never less than 1, so that the estimate is not too low.
    private static func enlargement(_ transform: String?) -> Double {
        guard let transform, transform.contains("scale") || transform.contains("matrix") else {
            return 1
        }
        return max(1, transform.numbers.map(abs).max() ?? 1)
    }
}

extension String {
    /// The numbers in a text, whatever is between them; none of them is infinite, whatever the text says.
    var numbers: [Double] {
        split { !"+-.eE0123456789".contains($0) }.compactMap { Double($0)?.bounded }
    }
}

extension Double {
    /// The number, or the largest that sums and products of a drawing's work are let grow to: an infinite one
    /// times nothing would be no number at all.
    fileprivate var bounded: Double { min(max(self, -1e60), 1e60) }
}
