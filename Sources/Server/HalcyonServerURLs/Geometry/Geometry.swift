/// The effect of the options on a picture: every size and position in whole pixels.
///
/// The steps run in this order: ``turn``, ``crop``, resampling to ``scaled``, ``cut``, the filters,
/// each of ``canvases``, ``padding``. Crop, sizes and gravity refer to the picture as displayed,
/// after the turn; to crop and scale before turning, use ``Turn/stored(_:in:)``.
package struct Geometry: Sendable, Hashable {
    /// A part that is kept.
    package struct Window: Sendable, Hashable {
        package let size: Dimensions
        /// The top left corner; `nil`: chosen by the picture's interest.
        package let position: Position?
    }

    package struct Canvas: Sendable, Hashable {
        package let size: Dimensions
        /// The position of the picture's top left corner.
        package let position: Position
    }

    package let turn: Turn
    /// The source after the turn.
    package let picture: Dimensions
    /// The part of ``picture`` that is used; `nil`: all.
    package let crop: Window?
    /// The size to which that part is resampled, each side on its own.
    package let scaled: Dimensions
    /// The part of ``scaled`` that is kept; `nil`: all.
    package let cut: Window?
    /// None, one or two, each larger than the picture on it.
    package let canvases: [Canvas]
    package let padding: ProcessingOptions.Padding
    package let result: Dimensions
    /// Result pixels per pixel of the options, the factor for the offsets of a watermark. Lower
    /// than `dpr` where the source is too small for that.
    package let scale: Double

    /// - Parameters:
    ///   - source: The picture as stored, at least 1×1; after trimming, if it is trimmed.
    ///   - orientation: Of EXIF, 1…8.
    ///   - limit: The limit of the result's longest side; `nil`: none.
    ///   - isVector: Whether the source has no pixels, so that it can be enlarged at will.
    package init(
        source: Dimensions, orientation: Int = 1, options: ProcessingOptions, limit: Int? = nil,
        isVector: Bool = false
    ) {
        turn = Turn(orientation: orientation, options: options)
        picture = turn.turned(
            Dimensions(width: max(1, source.width), height: max(1, source.height)))
        crop = Self.crop(of: picture, options: options)
        let used = crop?.size ?? picture
        let fitted = FittedSize(
            source: used, options: options, limit: limit.map { max(1, $0) }, isVector: isVector)
        scale = fitted.scale
        scaled = fitted.scaled
        cut = Self.window(
            fitted.cut, of: fitted.scaled, gravity: options.gravity, scale: fitted.scale)
        padding = fitted.padding
        var size = fitted.cut
        var canvases: [Canvas] = []
        for (larger, gravity) in zip(fitted.canvases, [options.extend, options.extendAspectRatio]) {
            guard larger != size, let gravity else { continue }
            let position = Placement.position(
                of: size, in: larger, gravity: gravity, scale: fitted.scale)
            // No canvas is placed by interest.
            canvases.append(Canvas(size: larger, position: position ?? Position(x: 0, y: 0)))
            size = larger
        }
        self.canvases = canvases
        result = Dimensions(
            width: size.width + padding.left + padding.right,
            height: size.height + padding.top + padding.bottom)
    }

    private static func crop(of picture: Dimensions, options: ProcessingOptions) -> Window? {
        guard let crop = options.crop else { return nil }
        let size = Dimensions(
            width: side(crop.width, of: picture.width),
            height: side(crop.height, of: picture.height))
        return window(size, of: picture, gravity: crop.gravity ?? options.gravity, scale: 1)
    }

    private static func side(_ wish: Double, of side: Int) -> Int {
        switch wish {
        case ..<0, 0: side
        case ..<1: max(1, Int(pixels: Double(side) * wish))
        default: min(side, Int(pixels: wish.rounded(.down)))
        }
    }

    private static func window(
        _ size: Dimensions, of outer: Dimensions, gravity: Gravity, scale: Double
    ) -> Window? {
        guard size != outer else { return nil }
        let position = Placement.position(of: size, in: outer, gravity: gravity, scale: scale)
        return Window(size: size, position: position)
    }
}
