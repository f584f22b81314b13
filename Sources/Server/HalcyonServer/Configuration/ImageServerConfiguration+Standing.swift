extension ImageServerConfiguration {
    /// A picture of the operator, given by one of the three properties; none by default.
    public struct StandingPicture: Sendable, Hashable {
        /// A local file, read when the server is made.
        public var path: String?
        /// A source as written in URLs, which must be allowed like others. Fetched on first use,
        /// and cached like other sources.
        public var url: String?
        /// The file itself in base64.
        public var data: String?

        public init(path: String? = nil, url: String? = nil, data: String? = nil) {
            self.path = path
            self.url = url
            self.data = data
        }

        var count: Int { [path, url, data].count { $0 != nil } }
    }

    /// The picture that the option `watermark` draws over results.
    public struct Watermark: Sendable, Hashable {
        public var picture = StandingPicture()
        /// 0…1, multiplied by the opacity in the URL; 1 by default.
        public var opacity = 1.0
    }

    /// The picture that replaces those whose source cannot be loaded.
    public struct Fallback: Sendable, Hashable {
        public var picture = StandingPicture()
        /// The HTTP status, 200 by default; 0 for the status of the failure.
        public var status = 200
        /// The time that caches may keep it; 60 seconds by default.
        public var ttl = Duration.seconds(60)
    }
}
