/// Why a PNG file is not read here. Another decoder may read it, or say better what is wrong with it.
package enum PNGRefusal: Error, Equatable {
    /// The file is of a kind that is not read here.
    case unusual(String)
    /// The file is cut short, or its parts contradict each other.
    case damaged(String)
    /// There is no memory for the picture.
    case outOfMemory

    /// The checksum of a chunk does not fit to what is in it.
    package static let wrongChecksum = PNGRefusal.damaged("a checksum is wrong")
}
