/// Why a file is not read or written here. Another codec may do it, or say better what is wrong.
public enum CodecRefusal: Error, Equatable, CustomStringConvertible {
    /// It is of a kind that this codec does not do.
    case unusual(String)
    /// The file is cut short, parts of it are not valid or contradict each other, or its pixels could not be
    /// written.
    case damaged(String)
    /// The file says that its animation has so many frames, which are not read.
    case tooManyFrames(Int)

    public var description: String {
        switch self {
        case .unusual(let reason), .damaged(let reason): reason
        case .tooManyFrames(let count): "it has \(count) frames"
        }
    }
}

extension CodecRefusal {
    /// The functions of a library, which is loaded if it is there.
    static func unlessInstalled<Functions>(
        _ library: UnsafePointer<Functions>?
    ) throws(CodecRefusal) -> Functions {
        guard let library else { throw .unusual("no decoder for it is installed") }
        return library.pointee
    }
}
