public import Foundation

extension ImageProcessItem {
    /// The image to process: decoded from the bytes, or the given one at the request's scale.
    func image(scaledFor options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: self, options: options)
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The same pixels at `scale` pixels per point: another size in points.
    public func scaled(to scale: CGFloat) -> KFCrossPlatformImage {
        base.withScale(scale)
    }
}
