/// Why a GIF file, or a frame of it, is not read here.
package enum GIFRefusal: Error, Equatable {
    /// The file is of a kind that is not read here; another decoder may read it.
    case unusual(String)
    /// The file's blocks are cut short or not understood.
    case damaged(String)
    /// The compressed pixels of a frame are invalid or too few.
    case damagedFrame(Int)
}

extension GIFRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unusual(let reason), .damaged(let reason): reason
        case .damagedFrame(let index): "the pixels of frame \(index) are damaged"
        }
    }
}
