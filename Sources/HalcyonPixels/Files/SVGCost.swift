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
    private let total: SVGWork.Share
    private let depth: Int
    private let hasEntitiesOfElements: Bool
    private let hasTooManyElements: Bool

    /// The width and height of what the drawing's units count, if it says so.
    private let box: (width: Double, height: Double)?

    init(_ data: Data) {
        let outline = SVGOutline(data, limit: Self.mostElements)
        if outline.depth <= Self.deepestNesting, !outline.isCutOff {
            var work = SVGWork(outline)
            total = work.total()
        } else {
            total = SVGWork.Share()
        }
        box = outline.elements.first.flatMap(Self.box)
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
        let filters = total.filters.enlarged(by: scale(to: size)).value
        let drawing =
            (filters + total.layering) * Double(size.pixelCount) + total.nanoseconds
            + Double(total.elements) * 2000
        return .nanoseconds(Int64(min(drawing * tiles, 1e18)))
    }

    /// How long painting may take beside that: each shape may be as large as the whole, or tiny.
    func longestPainting(drawnAt size: PixelSize) -> Duration {
        .nanoseconds(Int64(min(total.painting * Double(size.pixelCount), 1e18)))
    }

    /// By how much the whole is enlarged: never less than 1, so that the estimate is not too low.
    private func scale(to size: PixelSize) -> Double {
        guard let box else { return 1 }
        return max(1, Double(size.width) / box.width, Double(size.height) / box.height)
    }

    private static func box(of root: SVGOutline.Element) -> (width: Double, height: Double)? {
        func lengths(_ names: [String]) -> [Double] {
            names.flatMap { (root.attributes[$0] ?? "").numbers }
        }
        let box = lengths(["viewBox"]).suffix(2)
        let sides = box.count == 2 ? Array(box) : lengths(["width", "height"])
        guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else { return nil }
        return (sides[0], sides[1])
    }

    /// Bytes of memory that drawing takes beside the result.
    func memory(drawnAt size: PixelSize) -> Int {
        let tile = min(size.pixelCount, 2000 * 2000).clampedTimes(4)
        var memory = tile.clampedTimes(3 + total.layers)
        if total.filters.value > 0 {
            memory = memory.clampedPlus(size.pixelCount.clampedTimes(36 + 4 * total.results))
        }
        return memory
    }
}
