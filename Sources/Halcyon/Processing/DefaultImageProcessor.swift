/// Decodes bytes; hands images on at the requested scale.
public struct DefaultImageProcessor: ImageProcessor {
    /// The processor used when none is asked for.
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
            // The protocol has no way to tell why; who gets the `nil` finds out.
            try? Image.decoding(data, options: options.imageCreatingOptions)
        }
    }
}
