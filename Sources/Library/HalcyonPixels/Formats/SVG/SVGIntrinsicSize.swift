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
        let tag = data.withUnsafeBytes { MarkupProlog.root(in: $0)?.tag }
        // Only one of the two sizes is stated: the file has a size, libvips works it out.
        guard let tag, !states("width", in: tag), !states("height", in: tag),
            let box = proportions(in: tag)
        else { return 1 }
        return longestSide / max(box.width, box.height)
    }

    /// The width and height of the root element's `viewBox`; `nil` where it has none that counts.
    private static func proportions(in tag: String) -> (width: Double, height: Double)? {
        guard let numbers = numbers(ofBoxIn: tag), numbers[2] > 0, numbers[3] > 0 else {
            return nil
        }
        return (numbers[2], numbers[3])
    }

    /// Whether there is a `viewBox` that is not four numbers. One without extent is no mistake: nothing of the
    /// drawing shows then.
    private static func isMalformedBox(in tag: String) -> Bool {
        attribute("viewBox", in: tag) != nil && numbers(ofBoxIn: tag) == nil
    }

    /// The four numbers of the root element's `viewBox`.
    private static func numbers(ofBoxIn tag: String) -> [Double]? {
        let numbers = attribute("viewBox", in: tag)?
            .split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.map {
                Double($0) ?? .nan
            }
        guard let numbers, numbers.count == 4, numbers.allSatisfy(\.isFinite) else { return nil }
        return numbers
    }

    /// Whether the attribute is an absolute length; anything else leaves the size open.
    private static func states(_ name: String, in tag: String) -> Bool {
        guard let value = attribute(name, in: tag)?.trimmingCharacters(in: .whitespaces) else {
            return false
        }
        let unit = units.first { !$0.isEmpty && value.lowercased().hasSuffix($0) } ?? ""
        return Double(value.dropLast(unit.count)).map { $0 >= 0 && $0.isFinite } ?? false
    }

    private static let units = ["px", "pt", "pc", "mm", "cm", "in", "em", "ex"]

    private static func attribute(_ name: String, in tag: String) -> String? {
        attributes(of: tag)?.first { $0.name == name }.map { String($0.value) }
    }

    private struct Attribute {
        let name: Substring
        let value: Substring
        /// From the name to the quote behind the value.
        let place: Range<String.Index>
    }

    /// The attributes of a tag; `nil` if it is not well-formed, and its drawing refused.
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
}

extension SVGIntrinsicSize {
    /// The size of pictures that have none (CSS 2.2, 10.3.2): a drawing in a page is as large.
    static let defaultSize = PixelSize(width: 300, height: 150)

    /// The file with the sides of ``defaultSize`` in its root element that it does not state, for one without
    /// proportions; `nil` for others. What it would be as large as otherwise is what it happens to paint.
    static func givingDefaultSize(to data: Data) -> Data? {
        guard let root = data.withUnsafeBytes({ MarkupProlog.root(in: $0) }),
            attributes(of: root.tag) != nil, proportions(in: root.tag) == nil
        else { return nil }
        let isStated = (
            width: states("width", in: root.tag), height: states("height", in: root.tag)
        )
        guard !isStated.width || !isStated.height else { return nil }
        var tag = root.tag
        // An attribute that cannot be read counts as one that is not there.
        func remove(_ name: String) {
            let place = attributes(of: tag)?.first { $0.name == name }?.place
            if let place { tag.removeSubrange(place) }
        }
        if isMalformedBox(in: tag) { remove("viewBox") }
        for (name, isStated, length) in [
            ("width", isStated.width, defaultSize.width),
            ("height", isStated.height, defaultSize.height),
        ] where !isStated {
            remove(name)
            let end = tag.firstIndex { $0.isWhitespace || $0 == "/" } ?? tag.endIndex
            tag.insert(contentsOf: " \(name)=\"\(length)\"", at: end)
        }
        var result = data
        let start = data.startIndex
        result.replaceSubrange(
            start + root.range.lowerBound..<start + root.range.upperBound, with: Data(tag.utf8))
        return result
    }
}
