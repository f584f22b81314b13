/// The size of the result: from the requested size, the fitting options, and the limits.
///
/// A *shrink* is the old length divided by the new one.
struct FittedSize {
    /// Result pixels for each pixel of the options.
    let scale: Double
    let scaled: Dimensions
    /// The part of ``scaled`` that stays.
    let cut: Dimensions
    /// The sizes after extending to the requested size, and then to its proportions; unchanged
    /// where there is nothing to extend.
    let canvases: [Dimensions]
    let padding: ProcessingOptions.Padding

    init(source: Dimensions, options: ProcessingOptions, limit: Int?, isVector: Bool) {
        var shrink = Shrink(source: source, options: options, isVector: isVector)
        var sizes = Sizes(source: source, shrink: shrink, options: options)
        // Rounding may need another round; each makes the sides smaller.
        for _ in 0..<20 {
            guard let limit, sizes.longerSide > Double(limit) else { break }
            shrink.reduce(by: Double(limit) / sizes.longerSide)
            sizes = Sizes(source: source, shrink: shrink, options: options)
        }
        scale = shrink.scale
        scaled = sizes.scaled.pixels
        cut = sizes.cut.pixels
        canvases = [sizes.extended.pixels, sizes.proportioned.pixels]
        padding = ProcessingOptions.Padding(
            top: Int(pixels: sizes.padding.top), right: Int(pixels: sizes.padding.right),
            bottom: Int(pixels: sizes.padding.bottom), left: Int(pixels: sizes.padding.left))
    }
}

/// The shrink of each side, and the result pixels per pixel of the options.
private struct Shrink {
    private(set) var x: Double
    private(set) var y: Double
    private(set) var scale: Double

    init(source: Dimensions, options: ProcessingOptions, isVector: Bool) {
        let width = Double(source.width)
        let height = Double(source.height)
        x = options.width > 0 ? width / Double(options.width) : 1
        y = options.height > 0 ? height / Double(options.height) : 1
        scale = options.dpr
        if x != 1 || y != 1 { fit(source: source, options: options) }
        x /= options.zoomX
        y /= options.zoomY
        if !options.enlarge && !isVector {
            let least = min(x, y)
            if least < 1 {
                x /= least
                y /= least
                if options.extend == nil { scale /= least }
            }
            scale = min(scale, x, y)
        }
        if options.minWidth > 0, width / Double(options.minWidth) < x {
            let widest = width / Double(options.minWidth)
            y *= widest / x
            x = widest
        }
        if options.minHeight > 0, height / Double(options.minHeight) < y {
            let highest = height / Double(options.minHeight)
            x *= highest / y
            y = highest
        }
        x /= scale
        y /= scale
    }

    private mutating func fit(source: Dimensions, options: ProcessingOptions) {
        var resizing = options.resizing
        if resizing == .auto {
            let width = options.width > 0 ? options.width : source.width
            let height = options.height > 0 ? options.height : source.height
            let areAlike = (source.width >= source.height) == (width >= height)
            resizing = areAlike ? .fill : .fit
        }
        switch resizing {
        case .force: break
        case _ where options.width == 0: x = y
        case _ where options.height == 0: y = x
        case .fit, .auto:
            x = max(x, y)
            y = x
        case .fill, .fillDown:
            x = min(x, y)
            y = x
        }
    }

    mutating func reduce(by factor: Double) {
        x /= factor
        y /= factor
        scale *= factor
    }
}

/// Whole numbers of pixels, not yet bounded.
private struct Sizes {
    struct Size: Equatable {
        var width: Double
        var height: Double

        var pixels: Dimensions {
            Dimensions(width: max(1, Int(pixels: width)), height: max(1, Int(pixels: height)))
        }
    }

    let scaled: Size
    let cut: Size
    let extended: Size
    let proportioned: Size
    let padding: (top: Double, right: Double, bottom: Double, left: Double)

    var longerSide: Double {
        max(
            proportioned.width + padding.left + padding.right,
            proportioned.height + padding.top + padding.bottom)
    }

    init(source: Dimensions, shrink: Shrink, options: ProcessingOptions) {
        let width = Double(source.width)
        let height = Double(source.height)
        scaled = Size(
            width: (width / min(shrink.x, width)).rounded(),
            height: (height / min(shrink.y, height)).rounded())
        // 0 where no size is requested.
        let wish = Size(
            width: (Double(options.width) * shrink.scale * options.zoomX).rounded(),
            height: (Double(options.height) * shrink.scale * options.zoomY).rounded())
        cut = Self.cut(scaled, to: wish, options: options)
        extended =
            options.extend == nil
            ? cut
            : Size(width: max(cut.width, wish.width), height: max(cut.height, wish.height))
        proportioned =
            options.extendAspectRatio == nil ? extended : Self.proportioned(extended, as: wish)
        func side(_ pixels: Int) -> Double {
            (Double(pixels) * shrink.scale).rounded(.toNearestOrEven)
        }
        let sides = options.padding
        padding = (side(sides.top), side(sides.right), side(sides.bottom), side(sides.left))
    }

    private static func cut(_ size: Size, to wish: Size, options: ProcessingOptions) -> Size {
        if options.resizing == .fillDown, !options.enlarge, wish.width > 0, wish.height > 0 {
            let wide = wish.width / size.width
            let high = wish.height / size.height
            if wide > high, wide > 1 {
                let height = (size.width * wish.height / wish.width).rounded()
                return Size(width: size.width, height: max(1, height))
            }
            if high > wide, high > 1 {
                let width = (size.height * wish.width / wish.height).rounded()
                return Size(width: max(1, width), height: size.height)
            }
        }
        return Size(
            width: wish.width > 0 ? min(wish.width, size.width) : size.width,
            height: wish.height > 0 ? min(wish.height, size.height) : size.height)
    }

    /// `size` made larger in one direction, to the proportions of `wish`.
    private static func proportioned(_ size: Size, as wish: Size) -> Size {
        guard wish.width > 0, wish.height > 0 else { return size }
        let wider = (size.height * wish.width / wish.height).rounded()
        if wider > size.width { return Size(width: wider, height: size.height) }
        let higher = (size.width * wish.height / wish.width).rounded()
        return Size(width: size.width, height: max(size.height, higher))
    }
}
