public import Foundation

/// What a processor works on.
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

extension ImageProcessItem {
    /// What is wrong with this item: why its file could not be decoded lately, or else found out by decoding
    /// it again.
    var failureDescription: String {
        switch self {
        case .image(let image):
            if case .encoded(let encoded) = image.content.currentRecipe.start,
                let reason = DecodingFailures.shared.reason(for: encoded.data)
            {
                return reason.readableDescription
            }
            do {
                _ = try image.bitmap()
                return "the processor returned no image."
            } catch {
                return error.readableDescription
            }
        case .data(let data):
            if let reason = DecodingFailures.shared.reason(for: data) {
                return reason.readableDescription
            }
            do {
                _ = try Image.decoding(data).bitmap()
                return "the processor returned no image."
            } catch {
                return error.readableDescription
            }
        }
    }
}
