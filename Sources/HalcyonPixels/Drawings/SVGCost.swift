import Foundation

/// How much work it is to draw an SVG file, estimated from its elements: once librsvg draws, nothing stops it
/// before it is done.
///
/// The figures were measured with librsvg 2.54 and filters over a whole picture.
struct SVGCost: Sendable {
    /// What drawing the whole takes.
    private let total: SVGWork.Share
    /// The pictures within the drawing, once each.
    private let pictures: SVGPictures
    /// How many elements are written in the file.
    let elementCount: Int

    /// The width and height of what the drawing's units count, if it says so.
    private let box: (width: Double, height: Double)?

    /// - Throws: `ImageCodingError` for a drawing that no limit of time could bound.
    init(_ outline: SVGOutline, _ pictures: SVGPictures) throws(ImageCodingError) {
        var work = try SVGWork(outline, pictures)
        total = work.total()
        self.pictures = pictures
        elementCount = outline.elements.count
        box = outline.elements.first.flatMap(Self.box)
        // Copies by `use` are elements, too.
        guard total.elements <= SVGOutline.mostElements else {
            throw .tooComplex(.SVG, reason: SVGOutline.wordsForMany)
        }
    }

    /// Throws for what is beyond `limits` at any size: some of it is done when only the size is asked for.
    /// - Throws: `ImageCodingError`.
    func check(_ limits: DecodingLimits) throws(ImageCodingError) {
        if let limit = limits.maximumMemory, pictures.memory > limit {
            throw .tooMuchMemory(needed: pictures.memory, limit: limit)
        }
        if let limit = limits.maximumDuration, fixedNanoseconds > limit / .nanoseconds(6) {
            throw .tooSlow(limit: limit)
        }
    }

    /// What does not depend on the size of the picture.
    private var fixedNanoseconds: Double {
        total.nanoseconds + Double(total.elements) * 2000 + pictures.nanosecondsToDecode
    }

    /// About how long drawing takes.
    func duration(drawnAt size: PixelSize) -> Duration {
        // Each tile is drawn with all that is in the picture.
        let tiles = Double((size.width + 1999) / 2000 * ((size.height + 1999) / 2000))
        let filters = total.filters.enlarged(by: scale(to: size)).value
        let drawing =
            (filters + total.layering) * Double(size.pixelCount) + fixedNanoseconds
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
        return memory.clampedPlus(pictures.memory)
    }
}
