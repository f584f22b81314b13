import Foundation

/// A source whose frames all look like the first one; those that do not are left out.
///
/// Images take size, channels and depth as the same for all frames, which a foreign source need not
/// keep to.
struct UniformFrameSource: ImageFrameSource {
    private let source: any ImageFrameSource
    private let size: PixelSize
    private let channels: Int
    private let depth: Bitmap.Depth

    init(_ source: any ImageFrameSource, like first: Bitmap) {
        self.source = source
        size = first.size
        channels = first.channels
        depth = first.depth
    }

    var data: Data? { source.data }
    var frameCount: Int { source.frameCount }

    func duration(at index: Int) -> TimeInterval { source.duration(at: index) }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard let frame = source.frame(at: index, maxSize: maxSize), frame.channels == channels,
            frame.depth == depth
        else { return nil }
        let isReduced =
            maxSize != nil && frame.size.width <= size.width && frame.size.height <= size.height
        return frame.size == size || isReduced ? frame : nil
    }

    func copy() -> UniformFrameSource {
        UniformFrameSource(source.copy(), size: size, channels: channels, depth: depth)
    }

    private init(
        _ source: any ImageFrameSource, size: PixelSize, channels: Int, depth: Bitmap.Depth
    ) {
        self.source = source
        self.size = size
        self.channels = channels
        self.depth = depth
    }
}
