public import Foundation

/// An area of the screen that images are made for.
public struct DisplayArea: Hashable, Sendable {
    /// Width and height in points.
    public var size: CGSize
    /// Pixels of the screen per point.
    public var scale: CGFloat
    /// How an image of other proportions lies in it; one that is distorted covers it.
    public var contentMode: ContentMode

    public init(size: CGSize, scale: CGFloat = 1, contentMode: ContentMode = .aspectFit) {
        self.size = size
        self.scale = scale
        self.contentMode = contentMode
    }
}

extension KingfisherParsedOptionsInfo {
    /// These options, with images made as small as `area` allows, unless they say how images are made.
    ///
    /// The original is cached on disk as well, for views of other sizes.
    func fitted(to area: DisplayArea?) -> KingfisherParsedOptionsInfo {
        guard let area, area.size.width > 0, area.size.height > 0,
            self.processor.identifier == DefaultImageProcessor.default.identifier
        else { return self }
        var options = self
        options.processor = FittingImageProcessor(
            size: area.size, mode: area.contentMode == .aspectFit ? .aspectFit : .aspectFill)
        options.scaleFactor = area.scale
        options.cacheOriginalImage = true
        return options
    }
}
