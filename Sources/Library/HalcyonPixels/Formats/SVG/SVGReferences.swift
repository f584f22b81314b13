import DirectCodecs
import Foundation
import HalcyonWork

/// The references between the elements of a drawing, by links, attributes and style sheets.
struct SVGReferences {
    /// Names are compared byte by byte, as librsvg does: texts that look alike are others.
    typealias Name = [UInt8]

    private let outline: SVGOutline
    /// Elements by their identifiers; which of several is meant is not for sure.
    private let places: [Name: [Int]]
    /// By the index of the element; of most elements there is none.
    private var targets: [Int: [Int]] = [:]

    /// - Throws: `ImageCodingError` for styles of which it cannot be told what they refer to, and for
    ///   references to parts of drawings within URLs.
    init(
        _ outline: SVGOutline, _ sheets: [SVGStyleSheet.Rule]
    ) throws(ImageCodingError) {
        self.outline = outline
        var places: [Name: [Int]] = [:]
        for (index, element) in outline.elements.enumerated() {
            guard let name = element.attributes["id"] else { continue }
            places[Array(name.utf8), default: []].append(index)
        }
        self.places = places
        for (index, element) in outline.elements.enumerated() {
            var found: [Int] = []
            for (name, value) in element.attributes where Self.painting.contains(name) {
                found += try named(SVGStyle(value).references)
            }
            for link in element.links where !Self.leadingElsewhere.contains(element.name) {
                // A picture, which has no parts.
                if element.name == "feImage", Self.isData(Array(link.utf8)) { continue }
                found += try named([Array(link.utf8)])
            }
            if !found.isEmpty { targets[index] = found }
        }
        // By what rules are about: `.class`, `#identifier`, a name, or `*` where that is not so simple.
        var rules: [Name: [Int]] = [:]
        for rule in sheets {
            let found = try named(rule.style.references)
            guard !found.isEmpty else { continue }
            for selector in rule.selectors { rules[Self.key(of: selector), default: []] += found }
        }
        guard !rules.isEmpty else { return }
        for (index, element) in outline.elements.enumerated() {
            for key in Self.keys(of: element) {
                if let found = rules[key] { targets[index, default: []] += found }
            }
        }
    }

    /// The elements that references name.
    private func named(_ references: [[UInt8]]) throws(ImageCodingError) -> [Int] {
        var found: [Int] = []
        for reference in references {
            guard let mark = reference.lastIndex(of: UInt8(ascii: "#")) else { continue }
            if Self.isData(reference) {
                throw .unsupported(.SVG, reason: "it refers to a part of a drawing within a URL")
            }
            found += places[Array(reference[(mark + 1)...])] ?? []
        }
        return found
    }

    /// Whether a reference has what it refers to within it.
    static func isData(_ reference: [UInt8]) -> Bool {
        DataURI.isScheme(of: reference, .lenient)
    }

    // MARK: Counting

    /// Counts the elements that are drawn when each reference is followed.
    ///
    /// - Parameter limit: No more than one element beyond it is counted.
    func walk(upTo limit: Int) -> Walk {
        var walk = Walk(isOpen: Array(repeating: false, count: outline.elements.count))
        if !outline.elements.isEmpty { follow(0, depth: 0, limit, &walk) }
        return walk
    }

    struct Walk {
        fileprivate(set) var count = 0
        fileprivate(set) var hasFilters = false
        /// Whether an element is being drawn, by its index.
        fileprivate var isOpen: [Bool]
    }

    private func follow(_ index: Int, depth: Int, _ limit: Int, _ walk: inout Walk) {
        guard walk.count <= limit else { return }
        walk.count = depth < 2 * SVGOutline.deepestNesting ? walk.count + 1 : limit + 1
        let element = outline.elements[index]
        // An element that refers to itself, however indirectly, is not drawn once more.
        guard walk.count <= limit, !walk.isOpen[index], !element.name.hasSuffix("Gradient") else {
            return
        }
        walk.isOpen[index] = true
        if element.name == "filter" { walk.hasFilters = true }
        for child in element.children
        where !Self.definitions.contains(outline.elements[child].name) {
            follow(child, depth: depth + 1, limit, &walk)
        }
        for target in targets[index] ?? [] { follow(target, depth: depth + 1, limit, &walk) }
        walk.isOpen[index] = false
    }

    // MARK: Showing

    /// Whether each element has a part in what is drawn. Of a `<switch>` it is the first child without a condition.
    func shown() -> [Bool] {
        var shown = [Bool](repeating: false, count: outline.elements.count)
        var next = shown.isEmpty ? [] : [0]
        while let index = next.popLast() {
            let element = outline.elements[index]
            guard !shown[index], !element.isHidden else { continue }
            shown[index] = true
            next += targets[index] ?? []
            // What is within it is drawn with it, or not at all.
            if element.name == "foreignObject" { continue }
            var children = element.children.filter {
                !Self.definitions.contains(outline.elements[$0].name)
            }
            if element.name == "switch" {
                children = children.first { !outline.elements[$0].isConditional }.map { [$0] } ?? []
            }
            next += children
        }
        return shown
    }

    /// Elements that are drawn only where something refers to them.
    private static let definitions: Set = [
        "defs", "symbol", "pattern", "mask", "clipPath", "marker", "filter", "linearGradient",
        "radialGradient", "style", "metadata", "title", "desc", "script",
    ]

    /// Attributes that name other elements.
    static let painting: Set = [
        "style", "filter", "mask", "fill", "stroke", "marker", "marker-start", "marker-mid",
        "marker-end", "clip-path",
    ]

    /// Elements whose links name no elements.
    private static let leadingElsewhere: Set = ["a", "script", "image"]

    // MARK: Selectors

    /// The keys under which selectors may name an element.
    static func keys(of element: SVGOutline.Element) -> Set<Name> {
        var keys: Set<Name> = [Array("*".utf8), lowercased(element.name)]
        if let name = element.attributes["id"] { keys.insert(lowercased("#" + name)) }
        for name in (element.attributes["class"] ?? "").unicodeScalars
            .split(whereSeparator: \.properties.isWhitespace)
        {
            keys.insert(lowercased("." + String(name)))
        }
        return keys
    }

    /// One of the keys that an element must have to match a selector.
    static func key(of selector: ArraySlice<UInt8>) -> Name {
        let last = selector.split { " \t\r\n\u{C}>+~*".utf8.contains($0) }.last ?? []
        let mark = last.first == UInt8(ascii: ".") || last.first == UInt8(ascii: "#") ? 1 : 0
        let name = last.dropFirst(mark).prefix(while: \.isNameByte)
        // What follows a name only says less of what is meant.
        let rest = last.dropFirst(mark + name.count).first
        guard !name.isEmpty, rest == nil || ".#:[".utf8.contains(rest ?? 0) else {
            return Array("*".utf8)
        }
        return last.prefix(mark + name.count).map(\.lowercased)
    }

    private static func lowercased(_ name: String) -> Name { name.utf8.map(\.lowercased) }
}

/// The pictures of pixels within a drawing, as URLs that hold them: librsvg decodes each of them as a whole,
/// and keeps it.
enum SVGPictures {
    /// The pixels of all pictures, each counted once.
    ///
    /// - Throws: `ImageCodingError` for pictures of kinds that are not read here, and for such as are beyond
    ///   `limits` or cannot be read.
    static func pixelCount(
        in outline: SVGOutline, limits: DecodingLimits
    ) throws(ImageCodingError) -> Int {
        var (known, count): (Set<String>, Int) = ([], 0)
        for element in outline.elements where elements.contains(element.name) {
            for link in element.links
            where SVGReferences.isData(Array(link.utf8)) && known.insert(link).inserted {
                count = count.clampedPlus(try pixelCount(of: link, limits))
            }
        }
        return count
    }

    private static let elements: Set = ["image", "feImage"]

    private static func pixelCount(
        of link: String, _ limits: DecodingLimits
    ) throws(ImageCodingError) -> Int {
        // As leniently as whoever draws it may read it.
        guard let url = try? DataURI(link, .lenient) else {
            throw .unsupported(.SVG, reason: "a picture in it is in a URL that cannot be read")
        }
        guard !url.data.isEmpty else { return 0 }
        let format = ImageSniffer.format(of: url.data)
        // The kind that the URL states decides who decodes it: one of others may take anything for theirs.
        let name = format == .unknown ? "of an unknown kind" : format.rawValue
        guard formats.contains(format) else {
            throw .unsupported(.SVG, reason: "a picture in it is \(name)")
        }
        guard kinds.contains(url.kind) else {
            throw .unsupported(.SVG, reason: "a picture in it is \(name) stated as \(url.kind)")
        }
        do {
            let picture = try EncodedImage(url.data, limits: limits)
            try picture.checkScans()
            return picture.header.size.pixelCount
        } catch {
            if let error = error as? ImageCodingError, error.isBeyondLimit { throw error }
            throw .corrupt(.SVG, reason: "a picture in it cannot be read")
        }
    }

    private static let formats: [ImageFormat] = [.PNG, .JPEG, .GIF, .WebP]

    /// As they are and as they are often miswritten.
    private static let kinds: Set = [
        "", "image/png", "image/x-png", "image/jpeg", "image/jpg", "image/pjpeg", "image/gif",
        "image/webp", "image/*", "img/png", "img/jpeg", "img/jpg", "application/octet-stream",
    ]
}
