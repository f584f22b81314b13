import Foundation

/// A port of 127.0.0.1 whose line of connections is full and moves no further: who connects waits.
final class FullPort: Sendable {
    let number: Int
    private let descriptors: [Int32]

    init() throws {
        func new(_ flags: Int32 = 0) -> Int32 {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
        }
        let listener = new()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var descriptors = [listener]
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                var result = bind(listener, $0, length) + listen(listener, 0)
                result += getsockname(listener, $0, &length)
                // One has a place in the line; a few more in case there are some.
                for _ in 0..<4 {
                    let client = new(Int32(SOCK_NONBLOCK.rawValue))
                    connect(client, $0, length)
                    descriptors.append(client)
                }
                return result
            }
        }
        number = Int(in_port_t(bigEndian: address.sin_port))
        self.descriptors = descriptors
        guard result == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// An address there.
    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(number)\(path)")! }
}
