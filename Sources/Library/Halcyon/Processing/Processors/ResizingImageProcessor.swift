public import Foundation

/// Resamples to a size in points.
public struct ResizingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The size in points; its use depends on `targetContentMode`.
    public let referenceSize: CGSize
    /// The handling of an image with other proportions. `.none` by default.
    public let targetContentMode: ContentMode

    public init(referenceSize: CGSize, mode: ContentMode = .none) {
        self.referenceSize = referenceSize
        targetContentMode = mode
    }

    public var identifier: String {
        let size = referenceSize.identifier
        return ProcessorIdentifier.make(
            "ResizingImageProcessor",
            targetContentMode == .none ? size : "\(size), \(targetContentMode)")
    }

    func step(_ image: Image) -> Image {
        image.kf.resize(to: referenceSize, for: targetContentMode)
    }
}

extension ResizingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "resize", arguments: ":WIDTHxHEIGHT[:fit|fill|none]",
        summary: "Resamples to a size: inside it, covering it, or exactly (the default).")

    private static let modes: [(name: String, mode: ContentMode)] = [
        ("fit", .aspectFit), ("fill", .aspectFill), ("none", .none),
    ]
    private static let mode = ProcessorArgument<ContentMode>("mode", "fit, fill or none") { text in
        modes.first { $0.name == text }?.mode
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(referenceSize: size, mode: arguments.optional(Self.mode) ?? .none)
    }

    var writtenArguments: [(any SpecValue)?] {
        let mode = targetContentMode.unless(.none)
        return [referenceSize, Self.modes.first { $0.mode == mode }?.name]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Resamples the image to exactly `size` points; it is distorted if its proportions differ.
    public func resize(to size: CGSize) -> KFCrossPlatformImage {
        let pixels = PixelSize(points: size, scale: base.scale)
        return pixels == base.pixelSize ? base : base.resized(to: pixels)
    }

    /// Resamples the image to `size` points with the given content mode.
    public func resize(to size: CGSize, for contentMode: ContentMode) -> KFCrossPlatformImage {
        resize(to: base.size.kf.resize(to: size, for: contentMode))
    }
}
