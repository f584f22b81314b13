public import Foundation

/// The radius of rounded corners.
public enum Radius: Hashable, Sendable {
    /// A part of the image's width: 0.5 is half of it.
    case widthFraction(CGFloat)
    /// A part of the image's height: 0.5 is half of it.
    case heightFraction(CGFloat)
    /// A length in points.
    case point(CGFloat)

    /// The radius in points for an image of `size` points.
    public func compute(with size: CGSize) -> CGFloat {
        switch self {
        case .widthFraction(let fraction): size.width * fraction
        case .heightFraction(let fraction): size.height * fraction
        case .point(let length): length
        }
    }

    var identifier: String {
        switch self {
        case .widthFraction(let fraction): "w_frac_\(fraction)"
        case .heightFraction(let fraction): "h_frac_\(fraction)"
        case .point(let length): "\(length)"
        }
    }
}
