package enum Placement {
    /// The top left corner of `inner`, inside `outer`.
    ///
    /// - Parameter scale: Multiplies offsets in pixels.
    /// - Returns: `nil` for ``Gravity/smart``, which needs the pixels.
    package static func position(
        of inner: Dimensions, in outer: Dimensions, gravity: Gravity, scale: Double = 1
    ) -> Position? {
        guard let position = unclamped(inner, in: outer, gravity: gravity, scale: scale) else {
            return nil
        }
        return Position(
            x: min(max(position.x, 0), max(outer.width - inner.width, 0)),
            y: min(max(position.y, 0), max(outer.height - inner.height, 0)))
    }

    /// The top left corner of a watermark, which lies on `outer` with at least one pixel.
    package static func position(
        ofWatermark inner: Dimensions, on outer: Dimensions, anchor: Gravity.Anchor, x: Double,
        y: Double, scale: Double
    ) -> Position {
        let gravity = Gravity.anchor(anchor, x: x, y: y)
        let position =
            unclamped(inner, in: outer, gravity: gravity, scale: scale) ?? Position(x: 0, y: 0)
        return Position(
            x: min(max(position.x, 1 - inner.width), outer.width - 1),
            y: min(max(position.y, 1 - inner.height), outer.height - 1))
    }

    /// The size of a watermark on a picture.
    ///
    /// - Parameters:
    ///   - natural: The size that the watermark has.
    ///   - scale: The share of the picture that it is fitted into; 0: it keeps its size.
    package static func size(
        ofWatermark natural: Dimensions, on outer: Dimensions, scale: Double
    ) -> Dimensions {
        guard scale > 0, natural.width > 0, natural.height > 0 else { return natural }
        let wide = Double(max(1, Int(pixelsToEven: Double(outer.width) * scale)))
        let high = Double(max(1, Int(pixelsToEven: Double(outer.height) * scale)))
        let factor = min(wide / Double(natural.width), high / Double(natural.height))
        return natural.scaled(by: factor)
    }

    /// An offset in pixels: below 1 it is a share of the outer side.
    package static func offset(_ offset: Double, of side: Int, scale: Double) -> Int {
        Int(pixelsToEven: abs(offset) >= 1 ? offset * scale : offset * Double(side))
    }

    private static func unclamped(
        _ inner: Dimensions, in outer: Dimensions, gravity: Gravity, scale: Double
    ) -> Position? {
        switch gravity {
        case .smart: return nil
        case .focus(let x, let y):
            return Position(
                x: Int(pixelsToEven: Double(outer.width) * x) - inner.width / 2,
                y: Int(pixelsToEven: Double(outer.height) * y) - inner.height / 2)
        case .anchor(let anchor, let x, let y):
            let x = offset(x, of: outer.width, scale: scale)
            let y = offset(y, of: outer.height, scale: scale)
            return Position(
                x: side(anchor.horizontal, inner.width, in: outer.width, offset: x),
                y: side(anchor.vertical, inner.height, in: outer.height, offset: y))
        }
    }

    private static func side(
        _ end: Gravity.Anchor.End, _ inner: Int, in outer: Int, offset: Int
    ) -> Int {
        switch end {
        case .first: offset
        case .middle: Int(pixelsToEven: Double(outer - inner + 1) / 2) + offset
        case .last: outer - inner - offset
        }
    }
}

extension Gravity.Anchor {
    enum End {
        case first, middle, last
    }

    var horizontal: End {
        switch self {
        case .west, .northWest, .southWest: .first
        case .centre, .north, .south: .middle
        case .east, .northEast, .southEast: .last
        }
    }

    var vertical: End {
        switch self {
        case .north, .northWest, .northEast: .first
        case .centre, .west, .east: .middle
        case .south, .southWest, .southEast: .last
        }
    }
}
