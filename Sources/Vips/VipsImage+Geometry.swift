/// What surrounds an image that is embedded in a larger one.
public enum VipsExtend: String, Sendable, CaseIterable {
    case black, copy, `repeat`, mirror, white, background
}

extension VipsImage {
    /// The rectangle of the image; it must lie inside.
    public func cropped(
        left: Int, top: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try apply(
            "extract_area",
            [
                "left": .int(left), "top": .int(top), "width": .int(width), "height": .int(height),
            ])
    }

    /// The image at a place inside one of `width` × `height`; what lies outside of it is cut off.
    ///
    /// `background` has one value per band, or one for all; it is for `extend: .background`.
    public func embedded(
        left: Int, top: Int, width: Int, height: Int, extend: VipsExtend = .black,
        background: [Double]? = nil
    ) throws(VipsError) -> VipsImage {
        var arguments: [String: VipsValue] = [
            "x": .int(left), "y": .int(top), "width": .int(width), "height": .int(height),
            "extend": .string(extend.rawValue),
        ]
        if let background { arguments["background"] = .doubles(background) }
        return try apply("embed", arguments)
    }

    /// The mirror image, left and right exchanged.
    public func flippedHorizontally() throws(VipsError) -> VipsImage {
        try apply("flip", ["direction": "horizontal"])
    }

    /// The mirror image, top and bottom exchanged. Not for sequential images.
    public func flippedVertically() throws(VipsError) -> VipsImage {
        try apply("flip", ["direction": "vertical"])
    }

    /// The image turned clockwise by quarters; negative counts turn the other way. Not for sequential
    /// images.
    public func rotated(quarterTurns: Int) throws(VipsError) -> VipsImage {
        let turns = (quarterTurns % 4 + 4) % 4
        if turns == 0 { return self }
        return try apply("rot", ["angle": .string("d\(turns * 90)")])
    }

    /// The image turned and mirrored as its EXIF orientation asks, with the orientation removed.
    ///
    /// Only orientations 1 and 2 can be read in order: a sequential image has to be shrunk and then
    /// copied with ``copiedToMemory()`` before.
    public func orientationApplied() throws(VipsError) -> VipsImage {
        let upright = (int("orientation") ?? 1) > 1 ? try apply("autorot") : self
        guard upright.hasField("orientation") else { return upright }
        return try upright.settingMetadata(
            [], removing: ["orientation", "exif-ifd0-Orientation"])
    }
}
