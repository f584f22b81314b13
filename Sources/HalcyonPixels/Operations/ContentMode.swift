package import Foundation

/// How a picture is brought to a size with other proportions.
public enum ContentMode: Sendable {
    /// Exactly the size; the picture is distorted.
    case none
    /// As large as possible inside the size.
    case aspectFit
    /// As small as possible with the size covered.
    case aspectFill
}

extension ContentMode {
    /// A size brought to `target`. A side that is derived of the other is a whole number.
    package func size(of source: CGSize, in target: CGSize) -> CGSize {
        if self == .none { return target }
        let aspectRatio = source.height == 0 ? 1 : source.width / source.height
        let atHeight = (aspectRatio * target.height).rounded()
        let keepsWidth =
            self == .aspectFit ? atHeight > target.width : atHeight < target.width
        return keepsWidth
            ? CGSize(width: target.width, height: (target.width / aspectRatio).rounded())
            : CGSize(width: atHeight, height: target.height)
    }
}
