package struct RedisSettings: Hashable, Sendable {
    package enum Address: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    package var address: Address
    /// The user of an access control list; used with a password only.
    package var user: String?
    package var password: String?
    package var database = 0
    package var usesTLS = false
    /// A file with the trusted root certificates in PEM form; `nil` for those of the system.
    package var tlsRoots: String?
    /// The timeout of a command, including the connection it needs.
    package var timeout = Duration.milliseconds(50)
    /// Before its first call.
    package var breaker = CircuitBreaker()

    package init(address: Address) { self.address = address }

    var greeting: [RESPCommand] {
        var commands: [RESPCommand] = []
        if let password {
            commands.append(user.map { ["AUTH", $0, password] } ?? ["AUTH", password])
        }
        if database != 0 { commands.append(["SELECT", "\(database)"]) }
        return commands
    }
}

package enum RedisError: Error, Hashable, Sendable {
    /// Redis is not used for a while, after many failures.
    case paused
    /// There is no connection; with the system's error text.
    case unreachable(String)
    case timedOut
    /// The connection has ended, or the protocol was violated.
    case broken(String)
    /// The server's error text.
    case refused(String)
}
