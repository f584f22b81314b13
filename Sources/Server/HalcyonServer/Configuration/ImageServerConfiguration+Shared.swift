import Foundation
import HalcyonCluster
import HalcyonServerURLs
import HalcyonWork

extension ImageServerConfiguration {
    /// Settings for sharing between servers. Nothing is shared by default.
    public struct Shared: Sendable, Hashable {
        public var redis = Redis()
        public var s3 = S3()
    }

    /// A bucket of an S3-compatible store, for finished pictures and, together with Redis, for
    /// sources. A server that cannot reach it works like one without a store.
    public struct S3: Sendable, Hashable {
        /// Scheme, host and port; the bucket is a segment of the path. `nil`, the default, for no store.
        public var endpoint: String?
        public var bucket = "halcyon"
        /// `us-east-1` by default, which self-hosted stores accept, too.
        public var region = "us-east-1"
        /// Needs ``secretKey``. Without both, credentials are looked up like those of Amazon's own
        /// programs: in the environment, in `~/.aws/credentials`, and at the address for
        /// credentials of a container.
        public var accessKey: String?
        public var secretKey: String?
        /// The session token of temporary keys.
        public var sessionToken: String?
        /// Segments before the names of all objects; none by default.
        public var prefix = ""
        /// The timeout of a request; 500 ms by default.
        public var timeout = Duration.milliseconds(500)
    }

    /// A Redis server or one that speaks its protocol, through which servers tell each other of
    /// finished and current work. A server that cannot reach it works alone.
    public struct Redis: Sendable, Hashable {
        /// The address; `nil`, the default, for no Redis.
        public var address: ListenAddress?
        /// The user in an access control list; needs a password.
        public var user: String?
        public var password: String?
        public var database = 0
        /// Whether connections are encrypted, and the server has to show a certificate for its host.
        public var usesTLS = false
        /// A file with the trusted certificates in PEM form; `nil`, the default, for those of the system.
        public var tlsRoots: String?
        /// The prefix of all keys and channels; `halcyon` by default. Servers with other settings
        /// of pictures need another one.
        public var prefix = "halcyon"
        /// The timeout of a reply; 50 ms by default.
        public var timeout = Duration.milliseconds(50)
        /// The lease duration: the longest wait of others for a server that has gone while it made
        /// something; 2 seconds by default.
        public var lease = Duration.seconds(2)
        /// The largest source or picture shared through Redis, in bytes; 64 KiB by default.
        public var maxBytes = 65_536
        /// The lifetime of shared entries; 1 day by default.
        public var maxAge = Duration.seconds(86_400)
    }
}

extension Setting {
    static let shared: [Setting] = [
        Setting("shared.redis.address", \.shared.redis.address),
        Setting("shared.redis.user", \.shared.redis.user),
        Setting("shared.redis.password", \.shared.redis.password, isSecret: true),
        Setting("shared.redis.database", \.shared.redis.database, in: 0...1_000_000),
        Setting("shared.redis.tls", \.shared.redis.usesTLS),
        Setting("shared.redis.tlsRoots", \.shared.redis.tlsRoots),
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
        Setting("shared.s3.endpoint", \.shared.s3.endpoint),
        Setting("shared.s3.bucket", \.shared.s3.bucket),
        Setting("shared.s3.region", \.shared.s3.region),
        Setting("shared.s3.accessKey", \.shared.s3.accessKey),
        Setting("shared.s3.secretKey", \.shared.s3.secretKey, isSecret: true),
        Setting("shared.s3.sessionToken", \.shared.s3.sessionToken, isSecret: true),
        Setting("shared.s3.prefix", \.shared.s3.prefix),
        Setting(
            "shared.s3.timeout", \.shared.s3.timeout,
            expected: "a number of seconds from 0.01 to 30",
            where: { (.milliseconds(10) ... .seconds(30)).contains($0) }),
    ]
}

extension ImageServerConfiguration.Shared {
    @FaultList var faults: [String] {
        if redis.user != nil, redis.password == nil {
            "shared.redis.user needs shared.redis.password."
        }
        if redis.usesTLS, case .unix = redis.address {
            "shared.redis.tls is of no use for a socket of this machine."
        }
        if let roots = redis.tlsRoots, !FileManager.default.isReadableFile(atPath: roots) {
            "shared.redis.tlsRoots: the file \(roots) cannot be read."
        }
        if case .tcp(_, 0) = redis.address { "shared.redis.address names no port." }
        let isPlain = redis.prefix.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}")
        }
        if redis.prefix.isEmpty || !isPlain {
            "shared.redis.prefix must be ASCII without spaces and braces."
        }
        if s3.endpoint != nil { s3.faults }
    }
}

extension ImageServerConfiguration.S3 {
    @FaultList fileprivate var faults: [String] {
        let url = endpoint.flatMap { URL(string: $0) }
        if !["http", "https"].contains(url?.scheme) || url?.host == nil || url?.query != nil {
            "shared.s3.endpoint must be a URL such as https://s3.example.com."
        }
        if bucket.isEmpty || bucket.contains("/") || !Self.isPlain(bucket) {
            "shared.s3.bucket must be a name of letters, digits and - . _"
        }
        if !Self.isPlain(prefix) {
            "shared.s3.prefix must be segments of letters, digits and - . _"
        }
        if (accessKey == nil) != (secretKey == nil) {
            "shared.s3.accessKey and shared.s3.secretKey need each other."
        }
        if sessionToken != nil, accessKey == nil {
            "shared.s3.sessionToken needs shared.s3.accessKey."
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isDigit || $0.isLetter || "-._/".utf8.contains($0) }
    }

    /// `nil` without a store, or when something is wrong with it.
    ///
    /// - Parameter onPause: Called with the reason for a pause, once after each time that it worked.
    func store(
        maximumBytes: Int, time: TimeSource,
        onPause: @escaping @Sendable (EngineError) -> Void
    ) -> S3Store? {
        guard let url = endpoint.flatMap({ URL(string: $0) }), faults.isEmpty,
            let credentials = self.credentials(time)
        else { return nil }
        var settings = S3Store.Settings(
            endpoint: url, bucket: bucket, region: region, credentials: credentials)
        settings.prefix = prefix
        settings.timeout = timeout
        settings.maximumBytes = maximumBytes
        settings.onPause = onPause
        // Only roots of one's own could be unreadable, and there are none.
        return try? S3Store(settings, time: time)
    }

    /// Returns the configured credentials, or those that are found as ``accessKey`` describes.
    private func credentials(_ time: TimeSource) -> S3Credentials? {
        if let accessKey, let secretKey {
            return S3Credentials(
                S3Keys(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken))
        }
        // As above.
        return try? S3Credentials(environment: ProcessInfo.processInfo.environment, time: time)
    }
}
