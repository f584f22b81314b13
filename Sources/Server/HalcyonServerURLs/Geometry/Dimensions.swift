/// Width and height in whole pixels.
///
/// This floor knows no pixels, and so not the size that the library's pictures have.
package struct Dimensions: Sendable, Hashable, Encodable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var longerSide: Int { max(width, height) }
    package var transposed: Dimensions { Dimensions(width: height, height: width) }

    /// The nearest size of these proportions, at least 1×1.
    func scaled(
        by factor: Double, _ rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> Dimensions {
        func side(_ side: Int) -> Int { max(1, Int(pixels: (Double(side) * factor).rounded(rule))) }
        return Dimensions(width: side(width), height: side(height))
    }
}

/// A place in pixels from the top left corner.
package struct Position: Sendable, Hashable {
    package var x: Int
    package var y: Int
}

package struct Region: Sendable, Hashable {
    package var origin: Position
    package var size: Dimensions

    package init(x: Int, y: Int, width: Int, height: Int) {
        origin = Position(x: x, y: y)
        size = Dimensions(width: width, height: height)
    }
}

extension Int {
    /// The whole number nearest to `value`, halves away from zero; 0 for none, and never more than
    /// what all calculations with pixels can bear.
    init(pixels value: Double) {
        self = value.isNaN ? 0 : Int(Swift.min(Swift.max(value.rounded(), -2e9), 2e9))
    }

    /// As ``init(pixels:)``, with halves to the even number.
    init(pixelsToEven value: Double) { self.init(pixels: value.rounded(.toNearestOrEven)) }
}
