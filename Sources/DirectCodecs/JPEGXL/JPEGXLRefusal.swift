/// Why a JPEG XL file is not read here.
package enum JPEGXLRefusal: Error, Equatable {
    /// The file is of a kind that is not read.
    case unsupported(String)
    /// The file is cut short, or parts of it are not valid.
    case damaged(String)
}

extension JPEGXLRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupported(let reason), .damaged(let reason): reason
        }
    }
}
