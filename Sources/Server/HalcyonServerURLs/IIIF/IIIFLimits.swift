package struct IIIFLimits: Sendable, Hashable {
    /// Declared in `info.json`; without a height, it also limits the height.
    package var maxWidth: Int?
    package var maxHeight: Int?
    package var maxArea: Int?
    /// The limit of the longest side of any result of the server.
    package var resultDimension: Int?
    /// Whether a box that is larger than the region on both sides is an error, as the official
    /// validator demands; otherwise the result has the region's size.
    package var isStrictlyConfined = true

    package init() {}

    /// The limits in `info.json` of a picture of this size: the server's own limit is included if
    /// the picture exceeds it.
    package func declared(for picture: Dimensions) -> (width: Int?, height: Int?, area: Int?) {
        guard let resultDimension, picture.longerSide > resultDimension else {
            return (maxWidth, maxHeight, maxArea)
        }
        return (
            min(maxWidth ?? .max, resultDimension),
            min(maxHeight ?? maxWidth ?? .max, resultDimension), maxArea
        )
    }

    package func allow(_ size: Dimensions) -> Bool {
        size.width <= widest && size.height <= highest
            && size.width.multipliedReportingOverflow(by: size.height).partialValue
                <= maxArea ?? .max
    }

    private var widest: Int { min(maxWidth ?? .max, resultDimension ?? .max) }
    private var highest: Int { min(maxHeight ?? maxWidth ?? .max, resultDimension ?? .max) }

    /// The largest allowed size with the proportions of `region`.
    /// - Parameter enlarging: Whether it may be larger than `region`, up to the declared limits;
    ///   when none is declared it is `region`.
    package func largest(of region: Dimensions, enlarging: Bool) -> Dimensions {
        let width = Double(region.width)
        let height = Double(region.height)
        let isDeclared = maxWidth != nil || maxHeight != nil || maxArea != nil
        var factor = Double.infinity
        if widest < .max { factor = min(factor, Double(widest) / width) }
        if highest < .max { factor = min(factor, Double(highest) / height) }
        if let maxArea { factor = min(factor, (Double(maxArea) / (width * height)).squareRoot()) }
        if !enlarging || !isDeclared { factor = min(factor, 1) }
        let rounded = region.scaled(by: factor)
        // Rounding up may have exceeded a limit.
        return allow(rounded) ? rounded : region.scaled(by: factor, .down)
    }
}
