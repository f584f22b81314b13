/// An object that can be given an image: a menu item, a toolbar button, a texture of a game.
///
/// It gets `kf.setImage(with:)` without placeholder views, indicators and transitions.
public protocol KingfisherImageSettable: KingfisherCompatible {
    /// Makes the object hold `image`; `nil` empties it. `options` are those of the load.
    @MainActor func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo)

    /// The image the object holds, if it can tell.
    @MainActor func getImage() -> KFCrossPlatformImage?
}

/// An object with an `image`.
public protocol KingfisherHasImageComponent: KingfisherImageSettable {
    /// The image the object holds.
    @MainActor var image: KFCrossPlatformImage? { get set }
}

extension KingfisherHasImageComponent {
    @MainActor public func setImage(
        _ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo
    ) {
        self.image = image
    }

    @MainActor public func getImage() -> KFCrossPlatformImage? { image }
}
