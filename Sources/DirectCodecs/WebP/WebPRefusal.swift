/// Why a WebP file is not read or written here. Another codec may do it, or say better what is wrong.
package enum WebPRefusal: Error, Equatable {
    /// The file is of a kind that is not read here.
    case unusual(String)
    /// The file is cut short, or its parts contradict each other.
    case damaged(String)
}

extension WebPRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unusual(let reason), .damaged(let reason): reason
        }
    }
}
