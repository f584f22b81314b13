public import Halcyon

extension KFImageProtocol {
    /// A view of what this describes; it loads when it comes on the screen.
    ///
    /// A later description is given to the same view by `update(_:)`.
    public func makeView() -> KFImageView {
        KFImageView(self)
    }
}
