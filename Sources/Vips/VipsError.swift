/// The failure of one libvips operation.
///
/// libvips has a single error buffer for all threads. `operation` is always exact. `message` is exact
/// when nothing else failed in the same moment; among concurrent failures lines go to the operation
/// whose nickname, pipeline or format they name, and a line that names none may reach more than one.
/// It is meant for people and logs, not for telling kinds of failures apart.
public struct VipsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The nickname of the operation that failed, such as `jpegload_buffer`.
    public let operation: String

    /// libvips' own words, one line per message.
    public let message: String

    init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    public var description: String {
        // Many of libvips' messages begin with the name already.
        message.hasPrefix("\(operation): ") ? message : "\(operation): \(message)"
    }
}
