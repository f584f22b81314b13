extension ImageServerConfiguration {
    /// What several servers share. Nothing by default.
    public struct Shared: Sendable, Hashable {
        public var redis = Redis()
    }

    /// A Redis server, or one that speaks its protocol, by which servers tell each other what they have made
    /// and are making. A server that cannot reach it works like one that is alone.
    public struct Redis: Sendable, Hashable {
        /// Where it is; `nil`, the default, for none.
        public var address: ListenAddress?
        /// Of an access control list; needs a password.
        public var user: String?
        public var password: String?
        public var database = 0
        /// What all keys and channels begin with; `halcyon` by default. Servers with other settings of
        /// pictures need another one.
        public var prefix = "halcyon"
        /// How long an answer may take; 50 ms by default.
        public var timeout = Duration.milliseconds(50)
        /// How long others wait for a server that has gone while it made something; 2 seconds by default.
        public var lease = Duration.seconds(2)
        /// Bytes of the largest source or picture that is shared; 64 KiB by default.
        public var maxBytes = 65_536
        /// How long what is shared is kept; 1 day by default.
        public var maxAge = Duration.seconds(86_400)
    }
}

extension Setting {
    /// Of what several servers share.
    static let shared: [Setting] = [
        Setting("shared.redis.address", \.shared.redis.address),
        Setting("shared.redis.user", \.shared.redis.user),
        Setting("shared.redis.password", \.shared.redis.password, isSecret: true),
        Setting("shared.redis.database", \.shared.redis.database, in: 0...1_000_000),
        Setting("shared.redis.prefix", \.shared.redis.prefix),
        Setting(
            "shared.redis.timeout", \.shared.redis.timeout,
            expected: "a number of seconds from 0.001 to 5",
            where: { (.milliseconds(1) ... .seconds(5)).contains($0) }),
        Setting(
            "shared.redis.lease", \.shared.redis.lease,
            expected: "a number of seconds from 0.2 to 60",
            where: { (.milliseconds(200) ... .seconds(60)).contains($0) }),
        Setting("shared.redis.maxBytes", \.shared.redis.maxBytes, in: 0...(64 << 20)),
        Setting("shared.redis.maxAge", \.shared.redis.maxAge),
    ]
}

extension ImageServerConfiguration.Shared {
    /// What does not make sense.
    var faults: [String] {
        var faults: [String] = []
        if redis.user != nil, redis.password == nil {
            faults.append("shared.redis.user needs shared.redis.password.")
        }
        if case .tcp(_, 0) = redis.address {
            faults.append("shared.redis.address names no port.")
        }
        let isPlain = redis.prefix.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}")
        }
        if redis.prefix.isEmpty || !isPlain {
            faults.append("shared.redis.prefix must be ASCII without spaces and braces.")
        }
        return faults
    }
}
