/// Changes an image just before it is delivered. What it returns is never cached.
public protocol ImageModifier: Sendable {
    /// The image to deliver in place of `image`. Runs on any thread.
    func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage
}

/// An image modifier made of a closure.
public struct AnyImageModifier: ImageModifier {
    private let block: @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage

    /// When `modify` throws, the image is delivered as it was.
    public init(
        modify: @escaping @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage
    ) {
        block = modify
    }

    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
        // Losing the error is this type's documented behaviour.
        (try? block(image)) ?? image
    }
}
