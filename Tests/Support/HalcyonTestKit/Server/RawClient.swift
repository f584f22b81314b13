import Dispatch
public import Foundation
import Synchronization

/// A client of bare sockets, which shows what really is on the wire.
public final class RawClient: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw client")

    /// Connects to 127.0.0.1.
    ///
    /// - Parameter receiveBuffer: Bytes that the system takes before they are read; its own choice by
    ///   default.
    public init(port: Int, receiveBuffer: Int32? = nil) throws {
        // A program that another test starts would keep the connection open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        if var receiveBuffer {
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, size)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    /// - Returns: Whether all of it was taken, which waits until there is room for it.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Ends this side of the connection, as a client does that goes; what comes can still be read.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads until `isEnough` says so, the server ends, or an error comes.
    ///
    /// - Returns: The bytes and the error number, 0 for none.
    public func read(
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async -> (bytes: [UInt8], error: Int32) {
        await withCheckedContinuation { continuation in
            queue.async { [descriptor] in
                var bytes: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 65536)
                while !isEnough(bytes) {
                    let count = recv(descriptor, &chunk, chunk.count, 0)
                    if count < 0 {
                        if errno == EINTR { continue }
                        continuation.resume(returning: (bytes, errno))
                        return
                    }
                    if count == 0 { break }
                    bytes += chunk[..<count]
                }
                continuation.resume(returning: (bytes, 0))
            }
        }
    }

    /// Sends one request and reads until the connection ends.
    public func exchange(
        _ path: String, method: String = "GET", headers: [String] = [], sending body: Data = Data()
    ) async -> (head: String, body: [UInt8], error: Int32) {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers
        if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
        send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        if !body.isEmpty { send(Array(body)) }
        let (bytes, error) = await read()
        let separator = Array("\r\n\r\n".utf8)
        guard let end = bytes.firstRange(of: separator) else {
            return (String(decoding: bytes, as: UTF8.self), [], error)
        }
        return (
            String(decoding: bytes[..<end.lowerBound], as: UTF8.self),
            Array(bytes[end.upperBound...]), error
        )
    }
}
