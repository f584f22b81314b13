import Foundation

/// Standard output or error, as the process got it.
enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Columns and rows of the terminal; 80 × 24 when it does not say.
    var terminalSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether both streams lead to one file, terminal or pipe.
    func isSame(as other: StandardStream) -> Bool {
        var own = stat()
        var others = stat()
        guard fstat(rawValue, &own) == 0, fstat(other.rawValue, &others) == 0 else { return false }
        return own.st_dev == others.st_dev && own.st_ino == others.st_ino
    }

    /// Writes all of `text`; blocks while the reader is slow.
    /// - Throws: `POSIXError`; `.EPIPE` if the reader has closed the pipe.
    func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    func write(_ data: Data) throws {
        try FileDescriptorWriter.write(data, to: rawValue)
    }

    /// Makes sure that descriptors 0 to 2 are taken, so that no file or socket gets one of them and
    /// is then written to as standard output. Reading or writing a closed one stays an error.
    static func reserveDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest free descriptor is taken, which is this one.
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}

enum FileDescriptorWriter {
    /// - Throws: `POSIXError`.
    static func write(_ data: Data, to descriptor: Int32) throws {
        try data.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Foundation.write(
                    descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if count >= 0 {
                    offset += count
                } else if errno != EINTR {
                    throw POSIXError.current
                }
            }
        }
    }
}

extension POSIXError {
    static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    var text: String { String(cString: strerror(code.rawValue)) }
}
