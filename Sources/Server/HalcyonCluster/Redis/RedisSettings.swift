/// How to reach a Redis server, or one that speaks its protocol.
package struct RedisSettings: Hashable, Sendable {
    package enum Address: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    package struct TLS: Hashable, Sendable {
        /// A file with certificates in PEM form of those who may vouch for the server; `nil` for those whom
        /// the system trusts.
        package var roots: String?

        package init(roots: String?) {
            self.roots = roots
        }
    }

    package var address: Address
    /// With a password only: a user of an access control list.
    package var user: String?
    package var password: String?
    package var database = 0
    /// `nil` for plain text.
    package var tls: TLS?
    /// How long a command may take, with the connection it needs.
    package var timeout = Duration.milliseconds(50)
    /// After so many failures without a success between them, the server is let alone for a while.
    package var failuresUntilPause = 5
    /// How long it is let alone at first; twice as long each further time.
    package var pause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)

    package init(address: Address) {
        self.address = address
    }

    /// What a connection begins with.
    var greeting: [RESPCommand] {
        var commands: [RESPCommand] = []
        if let password {
            commands.append(user.map { ["AUTH", $0, password] } ?? ["AUTH", password])
        }
        if database != 0 { commands.append(["SELECT", "\(database)"]) }
        return commands
    }
}

/// Why Redis has not done something.
package enum RedisError: Error, Hashable, Sendable {
    /// It is not asked for a while, after many failures.
    case paused
    /// There is no connection; in the words of the system.
    case unreachable(String)
    case timedOut
    /// The connection has ended, or what came was not the protocol.
    case broken(String)
    /// The server's own words.
    case refused(String)
}
