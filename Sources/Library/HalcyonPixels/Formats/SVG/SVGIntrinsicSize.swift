import Foundation

/// The size at which an SVG without a size of its own is drawn.
enum SVGIntrinsicSize {
    /// The longer side, in pixels, of a drawing that states only proportions.
    static let longestSide = 512.0

    /// The factor from libvips' size to the one used here.
    ///
    /// libvips draws a file with a `viewBox` but without `width` and `height` at one pixel per unit,
    /// which for many icons is 24 pixels. Its longer side becomes ``longestSide`` pixels instead.
    static func scale(of data: Data) -> Double {
        // Only one of the two sizes is stated: the file has a size, libvips works it out.
        guard let root = RootTag(data), root.statesNoSize, let box = root.proportions else {
            return 1
        }
        return longestSide / max(box.width, box.height)
    }

    /// Whether libvips draws a pixel per unit, and enlarges or reduces that as far as it takes.
    private static func isScaled(_ box: (width: Double, height: Double)) -> Bool {
        min(box.width, box.height) >= 1 && max(box.width, box.height) <= 1000 * longestSide
    }

    /// The size of pictures that have none (CSS 2.2, 10.3.2): a drawing in a page is as large.
    static let defaultSize = PixelSize(width: 300, height: 150)

    /// The file with the sides in its root element that it does not state: of ``defaultSize`` for one without
    /// proportions, and what its scale gives for one whose units are too large or too small for that. `nil` for
    /// others. What it would be as large as otherwise is what it happens to paint.
    static func givingDefaultSize(to data: Data) -> Data? {
        guard let root = RootTag(data) else { return nil }
        var size = (width: Double(defaultSize.width), height: Double(defaultSize.height))
        if let box = root.proportions {
            guard root.statesNoSize, !isScaled(box) else { return nil }
            let longest = max(box.width, box.height)
            size = (
                max(1, longestSide * (box.width / longest)),
                max(1, longestSide * (box.height / longest))
            )
        }
        let missing = [("height", size.height), ("width", size.width)]
            .filter { !root.states($0.0) }
        guard !missing.isEmpty else { return nil }
        // An attribute that cannot be read counts as one that is not there.
        let unreadable = missing.map(\.0) + (root.hasMalformedBox ? ["viewBox"] : [])
        var tag = root.text(without: unreadable)
        let sizes = missing.map { " \($0.0)=\"\($0.1)\"" }.joined()
        let end = tag.firstIndex { $0.isWhitespace || $0 == "/" } ?? tag.endIndex
        tag.insert(contentsOf: sizes, at: end)
        var result = data
        let start = data.startIndex
        result.replaceSubrange(
            start + root.range.lowerBound..<start + root.range.upperBound, with: Data(tag.utf8))
        return result
    }
}

/// The start tag of a drawing's root element, between its angle brackets.
private struct RootTag {
    struct Attribute {
        let name: Substring
        let value: Substring
        /// From the name to the quote behind the value.
        let place: Range<String.Index>
    }

    /// The place in the file.
    let range: Range<Int>
    private let text: String
    private let attributes: [Attribute]

    /// `nil` if there is none, or one that is not well-formed, whose drawing is refused.
    init?(_ data: Data) {
        guard let root = data.withUnsafeBytes({ MarkupProlog.root(in: $0) }),
            let attributes = Self.attributes(of: root.tag)
        else { return nil }
        (range, text, self.attributes) = (root.range, root.tag, attributes)
    }

    private static func attributes(of tag: String) -> [Attribute]? {
        var found: [Attribute] = []
        var rest = tag[...].drop { !$0.isWhitespace }
        while true {
            let next = rest.drop(while: \.isWhitespace)
            if next.isEmpty || next == "/" { return found }
            let name = next.prefix { $0 != "=" && !$0.isWhitespace }
            let equals = next[name.endIndex...].drop(while: \.isWhitespace)
            let text = equals.dropFirst().drop(while: \.isWhitespace)
            guard rest.startIndex < next.startIndex, !name.isEmpty, !name.contains("\0"),
                equals.first == "=", let quote = text.first, quote == "\"" || quote == "'",
                let end = text.dropFirst().firstIndex(of: quote)
            else { return nil }
            rest = text[text.index(after: end)...]
            found.append(
                Attribute(
                    name: name, value: text[..<end].dropFirst(),
                    place: name.startIndex..<rest.startIndex))
        }
    }

    private func attribute(_ name: String) -> Attribute? {
        attributes.first { $0.name == name }
    }

    /// The tag without the first attribute of each of these names.
    func text(without names: [String]) -> String {
        let places = names.compactMap { attribute($0)?.place }
        var kept = ""
        var start = text.startIndex
        for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            kept += text[start..<place.lowerBound]
            start = place.upperBound
        }
        return kept + text[start...]
    }

    /// The width and height of the `viewBox`; `nil` where it has none that counts.
    var proportions: (width: Double, height: Double)? {
        guard let box, box[2] > 0, box[3] > 0 else { return nil }
        return (box[2], box[3])
    }

    /// Whether there is a `viewBox` that is not four numbers, or of a negative extent. One without extent is no
    /// mistake: nothing of the drawing shows then.
    var hasMalformedBox: Bool { attribute("viewBox") != nil && box == nil }

    /// The four numbers of the `viewBox`.
    private var box: [Double]? {
        let numbers = attribute("viewBox")?.value
            .split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.map {
                Double($0) ?? .nan
            }
        guard let numbers, numbers.count == 4, numbers.allSatisfy(\.isFinite),
            min(numbers[2], numbers[3]) >= 0
        else { return nil }
        return numbers
    }

    var statesNoSize: Bool { !states("width") && !states("height") }

    /// Whether the attribute, or that property in the attribute `style`, is an absolute length; anything else leaves
    /// the size open.
    func states(_ name: String) -> Bool {
        let style = (attribute("style")?.value ?? "").split(separator: ";")
            .map { $0.split(separator: ":", maxSplits: 1).map(Self.trimmed) }
            .last { $0.count == 2 && $0[0].lowercased() == name }
        let own = (attribute(name)?.value).map(Self.trimmed)
        return [own, style?[1]].contains { $0.map(Self.isAbsolute) ?? false }
    }

    private static func trimmed(_ text: Substring) -> String {
        text.prefix { $0 != "!" }.trimmingCharacters(in: .whitespaces)
    }

    private static func isAbsolute(_ length: String) -> Bool {
        let unit = units.first { length.lowercased().hasSuffix($0) } ?? ""
        let number = length.dropLast(unit.count)
        // There are numbers in Swift that are none here, such as those with 16 digits.
        guard number.allSatisfy({ "+-.eE0123456789".contains($0) }) else { return false }
        return Double(number).map { $0 >= 0 && $0.isFinite } ?? false
    }

    private static let units = ["px", "pt", "pc", "mm", "cm", "in", "em", "ex"]
}
