import Foundation

/// A port of 127.0.0.1 for a program that is going to listen there: as long as this lives, nobody else is given
/// it as a free one, also not before the program gets there.
///
/// The program has to share it (`SO_REUSEADDR`), as servers do.
final class ReservedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var shares: Int32 = 1
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
}
