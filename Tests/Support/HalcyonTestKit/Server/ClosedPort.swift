public import Foundation

/// A port of 127.0.0.1 without a listener, which the system assigns to no other socket while this
/// lives.
///
/// Connections to it are refused. The port of a server that was shut down may belong to another one at once.
public final class ClosedPort: Sendable {
    public let number: Int
    private let descriptor: Int32

    /// - Parameter isReserved: Whether a program that knows the number may come to listen there, if it shares the
    ///   port (`SO_REUSEADDR`), as servers do.
    public init(isReserved: Bool = false) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var shares: Int32 = isReserved ? 1 : 0
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &shares, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) + getsockname(descriptor, $0, &length)
            }
        }
        number = Int(in_port_t(bigEndian: address.sin_port))
        guard result == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { close(descriptor) }

    /// An address there.
    public func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(number)\(path)")! }
}
