/// How a picture is brought to a size with other proportions.
public enum ContentMode: Sendable {
    /// Exactly the size; the picture is distorted.
    case none
    /// As large as possible inside the size.
    case aspectFit
    /// As small as possible with the size covered.
    case aspectFill
}
