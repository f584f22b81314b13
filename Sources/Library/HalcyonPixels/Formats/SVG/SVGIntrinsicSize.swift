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

    /// The longest side that libvips can have. It takes a longer one as 1.
    private static let longestDrawnSide = 10_000_000

    /// Throws for a drawing that states a longer side than libvips can have, or whose proportions make one.
    private static func check(
        _ stated: [Double?], _ box: (width: Double, height: Double)?, _ limits: DecodingLimits
    ) throws(ImageCodingError) {
        let ratio = box.map { $0.width / $0.height }
        func side(_ length: Double?, _ ratio: Double?, _ other: Double?, _ standard: Int) -> Int {
            let length = length ?? ratio.flatMap { ratio in other.map { $0 * ratio } }
            return length.map { $0 < 0x1p31 ? Int($0.rounded(.up)) : 1 << 31 } ?? standard
        }
        let size = PixelSize(
            width: side(stated[0], ratio, stated[1], defaultSize.width),
            height: side(stated[1], ratio.map { 1 / $0 }, stated[0], defaultSize.height))
        guard size.longestSide > longestDrawnSide else { return }
        let limit = limits.maximumPixelCount ?? .max
        throw .tooManyPixels(size, limit: limit < size.pixelCount ? limit : longestDrawnSide)
    }

    /// The file as it is drawn by a program that knows its size: that of its style sheets, attribute `style` or
    /// attributes, ``defaultSize`` for the sides of one without proportions that states none, and what its scale gives
    /// for one whose units are too large or too small for that. What it would be as large as otherwise is what it
    /// happens to paint.
    ///
    /// - Parameter backdrop: The colour behind it.
    /// - Throws: `ImageCodingError` for a size that no picture can have.
    static func sized(
        _ data: Data, _ backdrop: String?, _ style: SVGRootStyle, limits: DecodingLimits
    ) throws(ImageCodingError) -> Data {
        guard let root = RootTag(data) else { return data }
        var sides: [(name: String, value: String)] = []
        var missing: [String] = []
        let names = ["width", "height"]
        let stated = names.map { style.length($0) }
        let (box, isOpen) = (root.proportions, stated.allSatisfy { $0 == nil })
        try check(stated, box, limits)
        for (index, name) in names.enumerated() {
            if let pixels = stated[index] {
                sides.append((name, "\(pixels)px"))
            } else if let box, !isOpen || isScaled(box) {
                sides.append((name, "auto"))
            } else {
                let standard = index == 0 ? defaultSize.width : defaultSize.height
                let side = box.map {
                    let longest = max($0.width, $0.height)
                    return max(1, longestSide * ((index == 0 ? $0.width : $0.height) / longest))
                }
                sides.append((name, "\(side ?? Double(standard))px"))
                missing.append(name)
            }
        }
        // An attribute that cannot be read counts as one that is not there.
        if root.hasMalformedBox { missing.append("viewBox") }
        let isPlain = missing.isEmpty && !names.contains { style.differs($0) }
        guard !isPlain || backdrop != nil else { return data }
        let text = sides.map { "\($0.name):\($0.value)!important" }.joined(separator: ";")
        var tag = isPlain ? root.text(without: []) : root.text(without: missing, style: text)
        if let backdrop { tag = root.adding(backdrop, to: tag) }
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

    /// The tag without attributes of these names, and with declarations before and behind those of its `style`.
    func text(without names: [String], style: String? = nil) -> String {
        let dropped = names + (style == nil ? [] : ["style"])
        let places = dropped.compactMap { attribute($0)?.place }
        var kept = ""
        var start = text.startIndex
        for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            kept += text[start..<place.lowerBound]
            start = place.upperBound
        }
        kept += text[start...]
        guard let style else { return kept }
        let own = attribute("style").map { ";\($0.value);\(style)" } ?? ""
        let end = kept.firstIndex { $0.isWhitespace || $0 == "/" } ?? kept.endIndex
        kept.insert(contentsOf: " style=\"\(style)\(own)\"", at: end)
        return kept
    }

    /// This tag, up to its `>`, and a rectangle of a colour that fills the drawing.
    func adding(_ colour: String, to tag: String) -> String {
        let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
        let prefix = name.contains(":") ? name.prefix { $0 != ":" } + ":" : ""
        // What is beside the `viewBox` shows as well.
        let place =
            proportions.flatMap { size in
                box.map {
                    "x:\($0[0] - 9 * size.width)px!important;y:\($0[1] - 9 * size.height)px!important;"
                        + "width:\(19 * size.width)px!important;height:\(19 * size.height)px!important"
                }
            } ?? "x:0!important;y:0!important;width:100%!important;height:100%!important"
        let style =
            ["fill:\(colour)", "fill-opacity:1", "opacity:1", "stroke:none", "display:inline"]
            .map { "\($0)!important;" }.joined() + place
        let rectangle = "><\(prefix)rect fill=\"none\" style=\"\(style)\"/"
        return tag.hasSuffix("/") ? "\(tag.dropLast())\(rectangle)></\(name)" : tag + rectangle
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

    /// Whether the property in the attribute `style`, or else the attribute, is an absolute length; anything else
    /// leaves the size open.
    private func states(_ name: String) -> Bool {
        let style = (attribute("style")?.value ?? "").split(separator: ";")
            .map { $0.split(separator: ":", maxSplits: 1).map { $0.prefix { $0 != "!" } } }
            .last { $0.count == 2 && $0[0].trimmingCharacters(in: .whitespaces) == name }
        let value = style?[1] ?? attribute(name)?.value
        return value.flatMap { SVGRootStyle.pixels(String($0), ofFont: 16) } != nil
    }
}
