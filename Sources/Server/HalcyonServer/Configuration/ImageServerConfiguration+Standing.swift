extension ImageServerConfiguration {
    /// A picture of the operator's own. One of the three says where it is; none by default.
    public struct StandingPicture: Sendable, Hashable {
        /// A file of this machine, read when the server is made.
        public var path: String?
        /// A source as it stands in URLs, which has to be allowed like others. Fetched when it is needed
        /// first, and kept as other sources are.
        public var url: String?
        /// The file itself in base64.
        public var data: String?

        public init(path: String? = nil, url: String? = nil, data: String? = nil) {
            self.path = path
            self.url = url
            self.data = data
        }

        /// How many of the three are set.
        var count: Int { [path, url, data].count { $0 != nil } }
    }

    /// The picture that the option `watermark` lays over results.
    public struct Watermark: Sendable, Hashable {
        public var picture = StandingPicture()
        /// 0…1, multiplied by that of URLs; 1 by default.
        public var opacity = 1.0
    }

    /// The picture that stands in for those whose source cannot be had.
    public struct Fallback: Sendable, Hashable {
        public var picture = StandingPicture()
        /// The status of HTTP, 200 by default; 0 for that of the failure.
        public var status = 200
        /// How long caches may keep it; 60 seconds by default.
        public var ttl = Duration.seconds(60)
    }
}
