import Foundation

/// How much work it is to draw an SVG file, estimated from its elements: once librsvg draws, nothing stops it
/// before it is done.
///
/// The figures were measured with librsvg 2.54 and filters over a whole picture.
struct SVGCost: Sendable {
    /// More elements than drawings have, copies by `use` included.
    static let mostElements = 400_000
    /// Deeper nesting than drawings have.
    static let deepestNesting = 200

    /// What drawing the whole takes.
    private let total: Share
    private let depth: Int
    private let hasEntitiesOfElements: Bool
    private let hasTooManyElements: Bool

    /// What one element takes, with all that is in it and that it refers to.
    fileprivate struct Share: Sendable {
        var elements = 0
        /// Nanoseconds for each pixel.
        var filters = 0.0
        /// Pictures that are held at once, one on top of the other.
        var layers = 0
        /// Results of filters with names, which are kept until the filter ends.
        var results = 0

        mutating func add(_ other: Share) {
            elements = elements.clampedPlus(other.elements)
            filters += other.filters
            layers = max(layers, other.layers)
            results = max(results, other.results)
        }
    }

    init(_ data: Data) {
        let outline = SVGOutline(data, limit: Self.mostElements)
        total = Work(outline).total
        depth = outline.depth
        hasEntitiesOfElements = outline.hasEntitiesOfElements
        hasTooManyElements = outline.isCutOff || total.elements > Self.mostElements
    }

    /// Throws for a drawing that no limit of time could bound.
    /// - Throws: `ImageCodingError`.
    func check() throws(ImageCodingError) {
        if hasTooManyElements {
            throw .unsupported(.SVG, reason: "it has more than \(Self.mostElements) elements")
        }
        if depth > Self.deepestNesting {
            throw .unsupported(
                .SVG,
                reason: "its elements are nested \(depth) deep; "
                    + "the limit is \(Self.deepestNesting)")
        }
        if hasEntitiesOfElements {
            throw .unsupported(.SVG, reason: "it defines entities that stand for elements or files")
        }
    }

    /// About how long drawing takes.
    func duration(drawnAt size: PixelSize) -> Duration {
        // Each tile is drawn with all that is in the picture.
        let tiles = Double((size.width + 1999) / 2000 * ((size.height + 1999) / 2000))
        let drawing = total.filters * Double(size.pixelCount) + Double(total.elements) * 2000
        return .nanoseconds(Int64(min(drawing * tiles, 1e18)))
    }

    /// Bytes of memory that drawing takes beside the result.
    func memory(drawnAt size: PixelSize) -> Int {
        let tile = min(size.pixelCount, 2000 * 2000).clampedTimes(4)
        var memory = tile.clampedTimes(3 + total.layers)
        if total.filters > 0 {
            memory = memory.clampedPlus(size.pixelCount.clampedTimes(36 + 4 * total.results))
        }
        return memory
    }
}

/// Adds up the work of the elements.
private struct Work {
    typealias Share = SVGCost.Share

    private let outline: SVGOutline
    /// Elements by their identifiers.
    private var places: [String: Int] = [:]

    init(_ outline: SVGOutline) {
        self.outline = outline
        for (index, element) in outline.elements.enumerated() {
            if let name = element.attributes["id"] { places[name] = index }
        }
    }

    /// What drawing the whole takes.
    var total: Share {
        var known: [Int: Share] = [:]
        guard !outline.elements.isEmpty else { return Share() }
        var total = share(of: 0, scale: 1, depth: 0, &known)
        // A style may be that of any element.
        if outline.styles.contains("filter") {
            var all = Share()
            for place in filters(in: outline.styles) { all.add(filter(place, scale: 1)) }
            all.filters *= Double(outline.elements.count)
            total.add(all)
        }
        return total
    }

    /// - Parameters:
    ///   - scale: By how much the elements around it enlarge this one.
    ///   - depth: How many references and elements were followed up to here.
    private func share(
        of index: Int, scale: Double, depth: Int, _ known: inout [Int: Share]
    ) -> Share {
        if let share = known[index] { return share }
        // What refers to itself, however indirectly, is not drawn.
        guard depth < 2 * SVGCost.deepestNesting else { return Share() }
        known[index] = Share()
        let element = outline.elements[index]
        let scale = scale * Self.enlargement(element.attributes["transform"])
        var share = Share(elements: 1)
        for child in element.children
        where !Self.definitions.contains(outline.elements[child].name) {
            share.add(self.share(of: child, scale: scale, depth: depth + 1, &known))
        }
        if element.name == "use", let name = element.attributes["href"]?.dropFirst(),
            let place = places[String(name)]
        {
            share.add(self.share(of: place, scale: scale, depth: depth + 1, &known))
        }
        let style = element.attributes["style"] ?? ""
        for (name, value) in element.attributes where name != "filter" && value.contains("url(") {
            for place in references(in: value) where outline.elements[place].name != "filter" {
                share.add(self.share(of: place, scale: scale, depth: depth + 1, &known))
            }
        }
        let filters = filters(in: (element.attributes["filter"] ?? "") + style)
        for place in filters { share.add(filter(place, scale: scale)) }
        let isLayer =
            !filters.isEmpty || element.attributes["opacity"] != nil
            || element.attributes["mask"] != nil || element.attributes["clip-path"] != nil
            || style.contains("opacity") || style.contains("mask") || style.contains("blend")
            || style.contains("isolat") || style.contains("clip")
        if isLayer { share.layers += 1 }
        known[index] = share
        return share
    }

    /// What is drawn only where something refers to it.
    private static let definitions: Set = [
        "defs", "symbol", "pattern", "mask", "clipPath", "marker", "filter", "linearGradient",
        "radialGradient", "style", "metadata", "title", "desc", "script",
    ]

    /// The elements that a value refers to.
    private func references(in value: String) -> [Int] {
        value.components(separatedBy: "url(").dropFirst().compactMap { part in
            let name = part.prefix { $0 != ")" }.filter { !"#'\" ".contains($0) }
            return places[name]
        }
    }

    private func filters(in value: String) -> [Int] {
        // An entity may stand for any of them.
        guard !value.contains("&") else {
            return outline.elements.indices.filter { outline.elements[$0].name == "filter" }
        }
        return references(in: value).filter { outline.elements[$0].name == "filter" }
    }

    private func filter(_ place: Int, scale: Double) -> Share {
        var share = Share()
        for child in outline.elements[place].children {
            let primitive = outline.elements[child]
            share.filters += Self.nanoseconds(of: primitive, scale: scale)
            if primitive.attributes["result"] != nil { share.results += 1 }
        }
        return share
    }

    /// What a step of a filter takes for each pixel.
    private static func nanoseconds(of primitive: SVGOutline.Element, scale: Double) -> Double {
        func numbers(_ name: String, _ otherwise: Double) -> (Double, Double) {
            let values = Self.numbers(in: primitive.attributes[name] ?? "").map(abs)
            return (
                values.first ?? otherwise, values.dropFirst().first ?? values.first ?? otherwise
            )
        }
        switch primitive.name {
        case "feGaussianBlur", "feDropShadow": return 260
        case "feTurbulence": return 100 + 100 * numbers("numOctaves", 1).0
        case "feMorphology":
            let (x, y) = numbers("radius", 0)
            return 50 + 10 * (2 * x * scale + 1) * (2 * y * scale + 1)
        case "feConvolveMatrix":
            let (x, y) = numbers("order", 3)
            return 50 + 20 * x * y
        case "feDisplacementMap": return 1000
        case "feDiffuseLighting", "feSpecularLighting": return 160
        default: return 120
        }
    }

    /// By how much a transformation may enlarge: never less than 1, so that the estimate is not too low.
    private static func enlargement(_ transform: String?) -> Double {
        guard let transform, transform.contains("scale") || transform.contains("matrix") else {
            return 1
        }
        return max(1, numbers(in: transform).map(abs).max() ?? 1)
    }

    private static func numbers(in text: String) -> [Double] {
        text.split { !"+-.eE0123456789".contains($0) }.compactMap { Double($0) }
    }
}
