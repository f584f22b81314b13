import HalcyonWork

/// The caching lifetime of a response, for the header field `Cache-Control`.
package struct CacheControlDecision: Sendable, Hashable {
    package struct Settings: Sendable, Hashable {
        /// The lifetime of pictures in seconds; 0: only after revalidation.
        package var ttl = 31_536_000
        /// The limit in seconds of an origin's lifetime.
        package var maxTTL = 31_536_000
        /// The lifetime of URL errors in seconds; 0: not cached.
        package var errorTTL = 0
        /// The lifetime of the fallback image in seconds.
        package var fallbackTTL = 60
        /// The lifetime of source failures in seconds.
        package var negativeTTL = 5
        /// Seconds for which caches may use a stale response while they revalidate; `nil`: not sent.
        package var staleWhileRevalidate: Int?
        package var passesOriginOn = false
        /// Whether nothing is cached unless ``ttl`` was set explicitly: in development.
        package var keepsNothing = false

        package init() {}
    }

    package struct OriginCaching: Sendable, Hashable {
        package var cacheControl: [String]
        /// Seconds after the response arrived, by `Expires` and `Date`; `nil` without the field.
        package var expiresAfter: Double?

        package init(cacheControl: [String] = [], expiresAfter: Double? = nil) {
            self.cacheControl = cacheControl
            self.expiresAfter = expiresAfter
        }
    }

    package enum Answer: Sendable, Hashable {
        case picture(OriginCaching?)
        case fallback
        case failure(ServerFailure)
    }

    package let field: String
    /// Whether the server's own cache may store the response; always so when origins are ignored.
    package let isStorable: Bool

    /// - Parameter expires: The expiration of the URL, in Unix seconds like `now`.
    package init(
        _ answer: Answer, expires: Int? = nil, now: Double, settings: Settings = Settings()
    ) {
        var directives: [Directive]
        switch answer {
        case .failure(let failure):
            let seconds =
                switch failure.caching {
                case .never: 0
                case .errorTTL: settings.errorTTL
                case .negativeTTL: settings.negativeTTL
                }
            directives =
                seconds > 0 && !settings.keepsNothing
                ? [.init("public"), .init("max-age", seconds)] : [.init("no-store")]
        case .fallback: directives = Self.kept(for: settings.fallbackTTL, settings)
        case .picture(let origin):
            let passed = settings.passesOriginOn ? origin.flatMap(Self.passed) : nil
            directives = passed?.map { $0.limited(to: settings.maxTTL) } ?? []
            if directives.isEmpty { directives = Self.kept(for: settings.ttl, settings) }
            if let seconds = settings.staleWhileRevalidate,
                directives.contains(where: { $0.name == "max-age" }),
                !directives.contains(where: { $0.name == "stale-while-revalidate" })
            {
                directives.append(.init("stale-while-revalidate", seconds))
            }
        }
        if let expires { directives = Self.ending(directives, in: Double(expires) - now) }
        field = directives.map(\.text).joined(separator: ", ")
        isStorable = !directives.contains { $0.name == "no-store" || $0.name == "private" }
    }

    private static func kept(for seconds: Int, _ settings: Settings) -> [Directive] {
        if settings.keepsNothing { return [.init("no-store")] }
        return seconds > 0 ? [.init("public"), .init("max-age", seconds)] : [.init("no-cache")]
    }

    /// The directives to pass on; `nil` when the origin has none.
    private static func passed(_ origin: OriginCaching) -> [Directive]? {
        let given = FieldMembers.members(of: origin.cacheControl)
            .compactMap(Directive.init(member:))
        // The first of repeated directives counts.
        var known: Set<String> = []
        var directives = given.filter { known.insert($0.name).inserted }
        if !directives.contains(where: { Directive.decidingFreshness.contains($0.name) }),
            let expires = origin.expiresAfter
        {
            directives.append(.init("max-age", Int(min(max(expires, 0), 2_147_483_648))))
        }
        return directives.isEmpty ? nil : directives
    }

    /// Limits lifetimes to the expiration of the URL.
    private static func ending(_ directives: [Directive], in seconds: Double) -> [Directive] {
        let left = Int(min(max(seconds, 0), 2_147_483_648))
        let ending = directives.filter {
            !$0.name.hasPrefix("stale-") && $0.name != "immutable"
        }.map { $0.limited(to: left) }
        let isDecided = ending.contains { Directive.decidingFreshness.contains($0.name) }
        return isDecided ? ending : ending + [.init("max-age", left)]
    }
}

private struct Directive {
    static let decidingFreshness: Set = ["max-age", "s-maxage", "no-store", "no-cache"]
    private static let flags: Set = ["public", "private", "no-store", "no-cache", "immutable"]
    private static let times: Set = [
        "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
    ]

    let name: String
    let seconds: Int?

    init(_ name: String, _ seconds: Int? = nil) {
        self.name = name
        self.seconds = seconds
    }

    /// `nil` for directives that are not passed on. An unreadable time is 0.
    init?(member: String) {
        let parts = member.split(separator: "=", maxSplits: 1)
        let name = (parts.first ?? "").trimmingSpaces.lowercased()
        if Self.flags.contains(name) {
            self.init(name)
        } else if Self.times.contains(name) {
            let digits = (parts.count == 2 ? parts[1] : "").trimmingSpaces.filter { $0 != "\"" }
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy(\.isDigit)
            // Numbers that are too large are the largest (RFC 9111, section 1.2.2).
            self.init(name, isNumber ? min(Int(digits) ?? .max, 2_147_483_648) : 0)
        } else {
            return nil
        }
    }

    func limited(to most: Int) -> Directive {
        name == "max-age" || name == "s-maxage"
            ? Directive(name, seconds.map { min($0, most) }) : self
    }

    var text: String { seconds.map { "\(name)=\($0)" } ?? name }
}
