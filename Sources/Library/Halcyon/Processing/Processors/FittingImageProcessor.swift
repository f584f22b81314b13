public import Foundation

/// Reduces an image to the size needed to fit or cover an area; never enlarges.
public struct FittingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The size of the area, in points.
    public let size: CGSize
    /// The way in which the image fills the area.
    public let mode: ContentMode

    /// - Parameters:
    ///   - size: The area, in points.
    ///   - mode: `.none` covers the area, as `.aspectFill` does.
    public init(size: CGSize, mode: ContentMode = .aspectFit) {
        self.size = size
        self.mode = mode == .none ? .aspectFill : mode
    }

    public var identifier: String {
        ProcessorIdentifier.make("FittingImageProcessor", "\(size.identifier), \(mode)")
    }

    func step(_ image: Image) -> Image {
        let target = image.size.kf.resize(to: size, for: mode)
        guard target.width < image.size.width, target.height < image.size.height else {
            return image
        }
        return image.kf.resize(to: target)
    }
}
