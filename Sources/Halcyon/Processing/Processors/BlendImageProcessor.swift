public import Foundation
import Vips

/// Draws the image with a blend mode onto a colour, or onto nothing.
public struct BlendImageProcessor: ImageProcessor {
    /// How image and background are mixed.
    public let blendMode: CGBlendMode
    /// The opacity the image is drawn with, 0…1. 1 by default.
    public let alpha: CGFloat
    /// What the image is drawn onto; `nil`, the default, is transparent.
    public let backgroundColor: KFCrossPlatformColor?

    public init(
        blendMode: CGBlendMode, alpha: CGFloat = 1, backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.blendMode = blendMode
        self.alpha = alpha
        self.backgroundColor = backgroundColor
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "BlendImageProcessor", "\(blendMode.rawValue),\(alpha)",
            suffix: backgroundColor?.identifier)
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.image(
            withBlendMode: blendMode, alpha: alpha, backgroundColor: backgroundColor)
    }
}

extension BlendImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "blend", arguments: ":MODE[:ALPHA][:COLOR]",
        summary: "Draws the image with a blend mode (multiply, screen, …) onto a colour.")

    private static let mode = ProcessorArgument<BlendMode>(
        "mode", "one of \(BlendMode.allCases.map(\.name).joined(separator: ", "))"
    ) { text in
        BlendMode.allCases.first { $0.name == text }
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let mode = try arguments.required(Self.mode)
        let alpha = arguments.optional(.fraction("alpha")) ?? 1
        self.init(blendMode: mode, alpha: alpha, backgroundColor: arguments.optional(.color))
    }

    var argumentTexts: [String] {
        [blendMode.name] + (alpha == 1 ? [] : [SpecText.text(of: alpha)])
            + (backgroundColor.map { [SpecText.text(of: $0)] } ?? [])
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image drawn with `blendMode` and an opacity of `alpha` onto `backgroundColor`, or onto
    /// nothing. Mixed on sRGB values.
    public func image(
        withBlendMode blendMode: CGBlendMode, alpha: CGFloat = 1,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.applying(
            BlendOperation(
                mode: blendMode, alpha: alpha.clamped,
                background: (backgroundColor ?? .clear).clamped))
    }
}

/// The image over a plain colour.
struct BlendOperation: ImageOperation {
    let mode: BlendMode
    let alpha: Double
    let background: Color

    func outputHasAlpha(for input: Bool) -> Bool {
        switch mode.blending {
        case .normal, .separable: background.alpha < 1 && (input || alpha < 1)
        default: true
        }
    }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        switch mode.blending {
        case .normal:
            return try overBackground(image)
        case .separable(let function):
            // With a plain backdrop the mixed colour is a function of the image's sample alone.
            if background.alpha == 0 { return try overBackground(image) }
            let table = table(function, format: image.format)
            return try overBackground(
                image.mappingColor { try $0.apply("maplut", ["lut": .image(table.vipsImage())]) })
        case let blending:
            let backdrop = background.pixel
            let opacity = SIMD4<Float>(1, 1, 1, Float(alpha))
            return try image.mappingPixels { blending.composite($0 * opacity, over: backdrop) }
        }
    }

    private func overBackground(_ image: VipsImage) throws -> VipsImage {
        try image.faded(to: alpha).composited(over: background)
    }

    /// `(1 − αb) Cs + αb B(Cb, Cs)` for each sample of the three colour bands.
    private func table(_ function: Blending.Channel, format: VipsBandFormat) -> LookupTable {
        let backdrop = background.pixel
        func mixed(_ sample: Float, _ band: Int) -> Float {
            let blend = function(backdrop[band], sample)
            return min(max(0, sample + backdrop.w * (blend - sample)), 1)
        }
        if format == .ushort {
            let samples = (0..<(65536 * 3)).map { index in
                UInt16((mixed(Float(index / 3) / 65535, index % 3) * 65535).rounded())
            }
            return LookupTable(samples, bands: 3, format: .ushort)
        }
        let samples = (0..<(256 * 3)).map { index in
            UInt8((mixed(Float(index / 3) / 255, index % 3) * 255).rounded())
        }
        return LookupTable(samples, bands: 3, format: .uchar)
    }
}

extension Color {
    /// Red, green, blue and alpha.
    fileprivate var pixel: SIMD4<Float> {
        SIMD4(Float(red), Float(green), Float(blue), Float(alpha))
    }
}
