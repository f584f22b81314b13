import Foundation
import Glibc

/// Something at the path of a file that is none, so that reading it could wait or go on for ever.
struct NotAFile: LocalizedError {
    private let path: String
    private let kind: String

    /// What is at a path, following links; `nil` for a file, a folder, and what cannot be looked at.
    init?(at path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        switch info.st_mode & S_IFMT {
        case S_IFIFO: kind = "a FIFO"
        case S_IFSOCK: kind = "a socket"
        case S_IFCHR, S_IFBLK: kind = "a device"
        default: return nil
        }
        self.path = path
    }

    var errorDescription: String? { "\(path) is \(kind), not a file." }
}
