import Glibc
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOHTTP1

/// Reads the requests of a connection.
///
/// The framework's parser alone decides where a request ends. It gets one head at a time: so it is known which
/// part of a head is at fault, and an upgrade that is not taken, after which the parser reads no more, costs
/// nothing but a new parser (RFC 9110, section 7.8).
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    struct Limits {
        /// Bytes of a target.
        var target: Int
        /// Bytes of all header fields together.
        var fields: Int
        /// Bytes of one header field.
        var field = 16 << 10
        var fieldCount = 64
    }

    private enum Stage {
        /// The head is looked for its end up to `seen`; `line` is the length of its first line, once that is there.
        case head(seen: Int, line: Int?)
        case body(left: Int)
        /// A part that only the parser knows the end of, which is at the end of a line.
        case lines
    }

    private let limits: Limits
    private var parser: HTTPRequestDecoder
    private var stage = Stage.head(seen: 0, line: nil)
    /// Bytes that the parser has seen and not taken yet.
    private var given = 0
    /// Whether the parser reads nothing after this request.
    private var isLastOfParser = false

    init(_ limits: Limits) {
        self.limits = limits
        parser = Self.parser(limits)
    }

    private static func parser(_ limits: Limits) -> HTTPRequestDecoder {
        var configuration = NIOHTTPDecoderLimitConfiguration()
        configuration.maxHeaderFieldSize = max(limits.field, limits.target)
        configuration.maxHeaderListSize = limits.target + limits.fields
        configuration.maxHeaderFieldCount = limits.fieldCount
        return HTTPRequestDecoder(limitConfiguration: configuration)
    }

    /// Called with each head that the parser has read, while it reads.
    func noteHead(_ head: HTTPRequestHead) {
        isLastOfParser = head.method == .CONNECT || head.headers.contains(name: "Upgrade")
        if head.headers.contains(name: "Transfer-Encoding") {
            stage = .lines
        } else {
            stage = .body(left: head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0)
        }
    }

    func noteEnd() { stage = .head(seen: 0, line: nil) }

    func decoderAdded(context: ChannelHandlerContext) { parser.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) { parser.decoderRemoved(context: context) }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        switch stage {
        case .head(let seen, let line):
            if given == 0 { skipEmptyLines(&buffer) }
            guard let count = try headLength(buffer, seen: seen, line: line) else {
                return .needMoreData
            }
            // Unless the parser sees more, or another end.
            stage = .lines
            try give(count, of: &buffer, context)
        case .body(let left):
            let count = min(left, buffer.readableBytes)
            stage = .body(left: left - count)
            // An end that the parser has not seen is for it to find.
            try give(left == 0 ? buffer.readableBytes : count, of: &buffer, context)
        case .lines:
            let line = buffer.lineEnd(from: given)
            try give(line ?? buffer.readableBytes, of: &buffer, context)
        }
        return buffer.readableBytes > given ? .continue : .needMoreData
    }

    func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        while buffer.readableBytes > given,
            try decode(context: context, buffer: &buffer) == .continue
        {}
        guard seenEOF else { return .needMoreData }
        if case .head = stage, buffer.readableBytes > 0 { throw RequestFault.malformed }
        var rest = ByteBuffer()
        return try parser.decodeLast(context: context, buffer: &rest, seenEOF: true)
    }

    private func give(
        _ count: Int, of buffer: inout ByteBuffer, _ context: ChannelHandlerContext
    ) throws {
        guard var part = buffer.getSlice(at: buffer.readerIndex, length: count) else { return }
        _ = try parser.decode(context: context, buffer: &part)
        given = part.readableBytes
        buffer.moveReaderIndex(forwardBy: count - given)
        guard isLastOfParser, case .head = stage else { return }
        isLastOfParser = false
        given = 0
        parser.decoderRemoved(context: context)
        parser = Self.parser(limits)
        parser.decoderAdded(context: context)
    }

    /// Clients may end a body with a line too many (RFC 9112, section 2.2).
    private func skipEmptyLines(_ buffer: inout ByteBuffer) {
        let count = buffer.readableBytesView.prefix { $0 == .carriageReturn || $0 == .lineFeed }
            .count
        if count > 0 {
            buffer.moveReaderIndex(forwardBy: count)
            stage = .head(seen: 0, line: nil)
        }
    }

    /// Bytes up to the end of the head; `nil` while that has not come.
    private func headLength(_ buffer: ByteBuffer, seen: Int, line: Int?) throws -> Int? {
        var seen = seen
        var line = line
        if line == nil {
            let end = buffer.lineEnd(from: seen)
            let bytes = buffer.readableBytesView.prefix(end.map { $0 - 1 } ?? buffer.readableBytes)
            try RequestLine.check(bytes, isWhole: end != nil, longestTarget: limits.target)
            guard let end else {
                stage = .head(seen: buffer.readableBytes, line: nil)
                return nil
            }
            line = end
            seen = end - 1
        }
        // An empty line is the end, whatever its first byte is of the two that end lines.
        let head = buffer.readableBytesView
        func byte(_ offset: Int) -> UInt8? {
            offset < head.count ? head[head.startIndex + offset] : nil
        }
        var end: Int?
        while end == nil, let next = buffer.lineEnd(from: seen) {
            switch (byte(next), byte(next + 1)) {
            case (.lineFeed, _): end = next + 1
            case (.carriageReturn, .lineFeed): end = next + 2
            case (nil, _), (.carriageReturn, nil):
                stage = .head(seen: next - 1, line: line)
                try check(fields: head.count - (line ?? 0))
                return nil
            default: seen = next
            }
        }
        try check(fields: (end ?? head.count) - (line ?? 0))
        if end == nil { stage = .head(seen: seen, line: line) }
        return end
    }

    private func check(fields count: Int) throws {
        if count > limits.fields { throw RequestFault.fieldsTooLarge }
    }
}

enum RequestFault: String, Error {
    case malformed
    case unknownMethod
    case targetTooLong
    case fieldsTooLarge

    /// `nil` for errors of the connection.
    init?(_ error: any Error) {
        switch error {
        case let fault as RequestFault: self = fault
        case HTTPParserError.headerOverflow: self = .fieldsTooLarge
        case is HTTPParserError: self = .malformed
        default: return nil
        }
    }
}

/// The first line of a request (RFC 9112, section 3).
enum RequestLine {
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// - Parameters:
    ///   - line: Without its line feed; what has come of it, unless it `isWhole`.
    ///   - longestTarget: Bytes that the target may have.
    static func check(
        _ line: ByteBufferView, isWhole: Bool, longestTarget: Int
    ) throws(RequestFault) {
        let method = line.prefix { $0 != .space }
        guard method.allSatisfy(\.isTokenByte), !method.isEmpty || !isWhole else {
            throw .malformed
        }
        guard method.count < line.count else {
            // No method that there is has so many.
            if method.count > longestTarget { throw .unknownMethod }
            if isWhole { throw .malformed }
            return
        }
        let target = line[method.endIndex...].dropFirst().prefix { $0 != .space }
        guard target.count <= longestTarget else { throw .targetTooLong }
        guard isWhole else {
            // Behind the target nothing is long.
            if line.count > method.count + target.count + 64 { throw .malformed }
            return
        }
        var version = line[target.endIndex...].dropFirst()
        if version.last == .carriageReturn { version = version.dropLast() }
        // The parser knows which of them there are.
        guard !target.isEmpty, version.count == 8, version.starts(with: "HTTP/1.".utf8) else {
            throw .malformed
        }
        guard methods.contains(String(decoding: method, as: UTF8.self)) else {
            throw .unknownMethod
        }
    }
}

extension ByteBuffer {
    /// The number of readable bytes from an offset up to and with the first line feed.
    fileprivate func lineEnd(from offset: Int) -> Int? {
        withUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress, offset < bytes.count,
                let found = memchr(base + offset, Int32(UInt8.lineFeed), bytes.count - offset)
            else { return nil }
            return UnsafeRawPointer(found) - base + 1
        }
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
    fileprivate static let space = UInt8(ascii: " ")
}
