public import Foundation

/// The input of an image processor.
public enum ImageProcessItem: Sendable {
    /// An image, decoded or described by an earlier processor.
    case image(KFCrossPlatformImage)
    /// The bytes of an image file.
    case data(Data)
}

/// Turns bytes or an image into an image.
///
/// Two processors are considered equal when their identifiers are; the identifier becomes part of the
/// cache key. The built-in processors only describe their work: decoding and all steps of a chain are
/// done in one pass when the image is rendered. An own processor may do the same through the members
/// of `Image.kf`, or work on `Image.bitmap()` directly.
///
/// `process` may run on any thread and may block.
///
/// ```swift
/// /// A faded picture of a given width, in points.
/// struct FadedPicture: ImageProcessor {
///     let width: CGFloat
///     var identifier: String { "org.example.FadedPicture(\(width))" }
///
///     func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
///         -> KFCrossPlatformImage?
///     {
///         DefaultImageProcessor.default.process(item: item, options: options)?
///             .kf.resize(to: CGSize(width: width, height: width), for: .aspectFit)
///             .kf.adjusted(brightness: 0, contrast: 1, saturation: 0.5, inputEV: 0)
///     }
/// }
/// ```
public protocol ImageProcessor: Sendable {
    /// Identifies the processor and its parameters. Empty only for `DefaultImageProcessor`.
    var identifier: String { get }

    /// The processed image, or `nil` when `item` cannot be processed.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
}

extension ImageProcessor {
    /// Both processors, this one first; the identifiers are joined by `|>`.
    public func append(another: any ImageProcessor) -> any ImageProcessor {
        ChainedImageProcessor(first: self, second: another)
    }
}

/// A processor with a text form, as used on the command line.
protocol WrittenImageProcessor: ImageProcessor {
    /// The text that `ImageProcessorSpec.parse` reads back as this processor.
    var spec: String { get }
}

extension ImageProcessor {
    /// The text form of this processor or chain; `nil` if a part of it has none.
    var writtenForm: String? {
        switch self {
        case let written as any WrittenImageProcessor:
            return written.spec
        case let chain as ChainedImageProcessor:
            guard let first = chain.first.writtenForm, let second = chain.second.writtenForm else {
                return nil
            }
            return "\(first)|>\(second)"
        default:
            return nil
        }
    }
}

infix operator |> : AdditionPrecedence

/// Both processors, the left one first.
public func |> (left: any ImageProcessor, right: any ImageProcessor) -> any ImageProcessor {
    left.append(another: right)
}

/// Two processors, one after the other; `nil` from the first ends the work.
struct ChainedImageProcessor: ImageProcessor {
    let first: any ImageProcessor
    let second: any ImageProcessor

    var identifier: String { "\(first.identifier)|>\(second.identifier)" }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        guard let image = first.process(item: item, options: options) else { return nil }
        return second.process(item: .image(image), options: options)
    }
}

/// Decodes bytes; hands images on at the requested scale.
public struct DefaultImageProcessor: ImageProcessor {
    /// The default processor of a request.
    public static let `default` = DefaultImageProcessor()

    /// Empty: an image without processing is cached under its plain key.
    public let identifier = ""

    public init() {}

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        switch item {
        case .image(let image):
            image.withScale(options.scaleFactor)
        case .data(let data):
            // `process` cannot report the reason; the caller finds it out after a `nil`.
            try? Image.decoding(data, options: options.imageCreatingOptions)
        }
    }
}

/// A processor that only adds steps to the image of the default processor.
protocol StepImageProcessor: ImageProcessor {
    /// The processed image; `image` has the request's scale.
    func step(_ image: Image) -> Image
}

extension StepImageProcessor {
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        DefaultImageProcessor.default.process(item: item, options: options).map(step)
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Returns the same pixels at `scale` pixels per point, which changes the size in points.
    public func scaled(to scale: CGFloat) -> KFCrossPlatformImage {
        base.withScale(scale)
    }
}

/// Identifiers are part of cache keys: their text must never depend on platform or locale.
enum ProcessorIdentifier {
    static func make(_ name: String, _ parameters: String? = nil, suffix: String? = nil) -> String {
        let call = "com.onevcat.Kingfisher." + name + (parameters.map { "(\($0))" } ?? "")
        return suffix.map { "\(call)_\($0)" } ?? call
    }
}

extension CGSize {
    var identifier: String { "(\(width), \(height))" }
}

extension CGPoint {
    var identifier: String { "(\(x), \(y))" }
}

extension Color {
    var identifier: String {
        let components = [red, green, blue, alpha].map { String(format: "%.2f", Double($0)) }
        return "(\(components.joined(separator: ",")))"
    }
}

extension RectCorner {
    /// Empty for all corners, as most cached images have it.
    var identifier: String { self == .all ? "" : "_corner(\(rawValue))" }
}
