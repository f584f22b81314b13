package import NIOCore

/// A value of the Redis protocol, version 2.
package enum RESPValue: Hashable, Sendable {
    /// A line of text: `+OK`.
    case status(String)
    /// A failed command, in the server's words: `-ERR unknown command`.
    case error(String)
    case integer(Int64)
    case bytes(ByteBuffer)
    case array([RESPValue])
    /// Nothing: a key that does not exist.
    case null

    package var text: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(buffer: bytes)
        default: nil
        }
    }

    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .bytes(let bytes): Int64(String(buffer: bytes))
        default: nil
        }
    }

    package var bytes: ByteBuffer? { if case .bytes(let bytes) = self { bytes } else { nil } }

    package var array: [RESPValue]? { if case .array(let values) = self { values } else { nil } }
}

/// Bytes that are no value of the protocol, or one beyond the limits.
package struct RESPError: Error, Hashable, Sendable {
    package let reason: String
}

package struct RESPDecoder {
    private let maximumBytes: Int
    private let maximumDepth = 8

    package init(maximumBytes: Int = 64 << 20) { self.maximumBytes = maximumBytes }

    /// Takes the first value out of `buffer`; `nil`, leaving it as it was, while a part is missing.
    package func value(in buffer: inout ByteBuffer) throws(RESPError) -> RESPValue? {
        var rest = buffer
        guard let value = try value(in: &rest, depth: 0) else {
            guard buffer.readableBytes <= maximumBytes else { throw tooLarge }
            return nil
        }
        buffer = rest
        return value
    }

    private func value(in buffer: inout ByteBuffer, depth: Int) throws(RESPError) -> RESPValue? {
        guard let line = try line(in: &buffer) else { return nil }
        guard let type = line.utf8.first else { throw RESPError(reason: "an empty line") }
        let text = String(line.dropFirst())
        switch type {
        case UInt8(ascii: "+"): return .status(text)
        case UInt8(ascii: "-"): return .error(text)
        case UInt8(ascii: ":"):
            guard let number = Int64(text) else {
                throw RESPError(reason: "an integer that is none")
            }
            return .integer(number)
        case UInt8(ascii: "$"):
            guard let count = try length(text) else { return .null }
            guard buffer.readableBytes >= count + 2 else { return nil }
            guard let bytes = buffer.readSlice(length: count),
                buffer.readInteger(as: UInt16.self) == 0x0D0A
            else { throw RESPError(reason: "bytes without their end") }
            return .bytes(bytes)
        case UInt8(ascii: "*"):
            guard let count = try length(text) else { return .null }
            guard depth < maximumDepth else { throw RESPError(reason: "arrays in arrays") }
            var values: [RESPValue] = []
            // Each has four bytes at least, so that a number alone reserves nothing.
            values.reserveCapacity(min(count, buffer.readableBytes / 4 + 1))
            for _ in 0..<count {
                guard let value = try value(in: &buffer, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        default:
            throw RESPError(reason: "an unknown type of value")
        }
    }

    /// Up to the next CR LF, without it.
    private func line(in buffer: inout ByteBuffer) throws(RESPError) -> String? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\r")) else {
            guard view.count < Self.longestLine else { throw tooLarge }
            return nil
        }
        guard end - view.startIndex <= Self.longestLine else { throw tooLarge }
        guard end + 1 < view.endIndex else { return nil }
        guard view[end + 1] == UInt8(ascii: "\n") else {
            throw RESPError(reason: "a line without its end")
        }
        let line = String(decoding: view[..<end], as: UTF8.self)
        buffer.moveReaderIndex(forwardBy: end - view.startIndex + 2)
        return line
    }

    /// A length; `nil` for −1, which stands for nothing.
    private func length(_ text: String) throws(RESPError) -> Int? {
        guard let count = Int(text), count >= -1 else {
            throw RESPError(reason: "a length that is none")
        }
        guard count <= maximumBytes else { throw tooLarge }
        return count < 0 ? nil : count
    }

    private var tooLarge: RESPError { RESPError(reason: "a value beyond \(maximumBytes) bytes") }

    private static let longestLine = 64 * 1024
}

/// A command with its arguments, which may be any bytes.
package struct RESPCommand: Sendable, ExpressibleByArrayLiteral {
    package var arguments: [ByteBuffer]

    package init(arrayLiteral words: String...) { arguments = words.map { ByteBuffer(string: $0) } }

    /// Appends it as it is sent: an array of bytes.
    package func write(to buffer: inout ByteBuffer) {
        buffer.writeString("*\(arguments.count)\r\n")
        for argument in arguments {
            buffer.writeString("$\(argument.readableBytes)\r\n")
            buffer.writeImmutableBuffer(argument)
            buffer.writeString("\r\n")
        }
    }
}
