public import Foundation
public import Halcyon

/// Makes an image as small as its place on the screen allows; never enlarges.
///
/// Of a file's bytes no more is decoded than is needed, where the format allows for it.
public struct ThumbnailImageProcessor: ImageProcessor {
    /// The place, in points; the option `scaleFactor` tells the pixels of a point.
    public let size: CGSize
    /// Whether the place is to be covered; otherwise the image lies in it as a whole.
    public let fills: Bool

    public init(size: CGSize, fills: Bool = false) {
        self.size = size
        self.fills = fills
    }

    public var identifier: String {
        "org.halcyon.ThumbnailImageProcessor(\(size.width)x\(size.height)\(fills ? ", fills" : ""))"
    }

    public func process(
        item: ImageProcessItem, options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        guard let image = DefaultImageProcessor.default.process(item: item, options: options) else {
            return nil
        }
        guard size.width > 0, size.height > 0 else { return image }
        let target = image.size.kf.resize(to: size, for: fills ? .aspectFill : .aspectFit)
        guard target.width < image.size.width || target.height < image.size.height else {
            return image
        }
        return image.kf.resize(to: target)
    }
}
