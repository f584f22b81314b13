import HalcyonHTTP

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or
/// `unix:/run/images.sock`.
public enum ListenAddress: Sendable, Hashable, LosslessStringConvertible {
    /// Port 0 takes any free one.
    case tcp(host: String, port: Int)
    case unix(path: String)

    public init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // The kernel's limit, with the NUL.
            guard !path.isEmpty, path.utf8.count < 108 else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard IPAddress(host) != nil else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self = .tcp(host: host, port: Int(port))
    }

    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether it is reachable from this machine only.
    var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp("localhost", _): true
        case .tcp(let host, _):
            IPAddress(host).map { address in
                Self.loopback.contains { $0.contains(address) }
            } ?? false
        }
    }

    var takesAnyPort: Bool { if case .tcp(_, 0) = self { true } else { false } }

    private static let loopback = ["127.0.0.0/8", "::1/128"].compactMap(IPNetwork.init)
}

/// The permissions of a Unix socket, which decide who may connect to it.
public struct SocketMode: Sendable, Hashable, LosslessStringConvertible {
    public let bits: UInt32

    public init(bits: UInt32) { self.bits = bits & 0o777 }

    /// In octal digits, such as `0660`.
    public init?(_ text: String) {
        guard (3...4).contains(text.utf8.count), let bits = UInt32(text, radix: 8), bits <= 0o777
        else { return nil }
        self.bits = bits
    }

    public var description: String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
