import Foundation
import NIOCore

/// A regular file opened for reading. Its calls block: use them on a thread made for that.
final class OpenFile: Sendable {
    let size: Int
    let modified: Date
    private let descriptor: Int32

    /// Opens a regular file; `nil` when there is none that can be read.
    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        size = Int(status.st_size)
        modified = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
    }

    deinit {
        close(descriptor)
    }

    /// The bytes of `range`; an error when the file became shorter or cannot be read.
    func read(_ range: Range<Int>) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        while buffer.readableBytes < range.count {
            let position = range.lowerBound + buffer.readableBytes
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { bytes in
                let wanted = min(bytes.count, range.upperBound - position)
                return max(0, pread(descriptor, bytes.baseAddress, wanted, off_t(position)))
            }
            if count == 0 { break }
        }
        guard buffer.readableBytes == range.count else { throw POSIXError(.EIO) }
        return buffer
    }
}
