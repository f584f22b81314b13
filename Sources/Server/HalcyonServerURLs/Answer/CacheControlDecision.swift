/// How long an answer may be kept, for the header field `Cache-Control`.
package struct CacheControlDecision: Sendable, Hashable {
    package struct Settings: Sendable, Hashable {
        /// Seconds that pictures may be kept; 0: only after asking again.
        package var ttl = 31_536_000
        /// Seconds that an origin's word counts at most.
        package var maxTTL = 31_536_000
        /// Seconds that faults of URLs may be kept; 0: not at all.
        package var errorTTL = 0
        /// Seconds that the fallback image may be kept.
        package var fallbackTTL = 60
        /// Seconds that failures of a source may be kept.
        package var negativeTTL = 5
        /// Seconds that caches may go on with an answer while they ask for a new one; `nil`: not told.
        package var staleWhileRevalidate: Int?
        /// Whether what the origin says is handed on.
        package var passesOriginOn = false
        /// Whether nothing is kept unless ``ttl`` was set on purpose: in development.
        package var keepsNothing = false

        package init() {}
    }

    /// What an origin said about its picture.
    package struct OriginCaching: Sendable, Hashable {
        /// The values of its `Cache-Control`.
        package var cacheControl: [String]
        /// Seconds after the answer came, by `Expires` and `Date`; `nil` without the field.
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

    /// The value of the header field.
    package let field: String
    /// Whether the server's own cache may keep the answer; it always may when origins are not asked.
    package let isStorable: Bool

    /// - Parameters:
    ///   - expires: When the URL expires, in Unix seconds.
    ///   - now: Unix seconds.
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

    /// The directives that are handed on; `nil` when the origin says nothing.
    private static func passed(_ origin: OriginCaching) -> [Directive]? {
        let given = origin.cacheControl.flatMap { FieldMembers.members(of: $0) }
            .compactMap(Directive.init(member:))
        // Of a directive given twice the first one counts.
        var known: Set<String> = []
        var directives = given.filter { known.insert($0.name).inserted }
        if !directives.contains(where: { Directive.decidingFreshness.contains($0.name) }),
            let expires = origin.expiresAfter
        {
            directives.append(.init("max-age", Int(min(max(expires, 0), 2_147_483_648))))
        }
        return directives.isEmpty ? nil : directives
    }

    /// Nothing is kept beyond the end of the URL.
    private static func ending(_ directives: [Directive], in seconds: Double) -> [Directive] {
        let left = Int(min(max(seconds, 0), 2_147_483_648))
        let ending = directives.filter {
            !$0.name.hasPrefix("stale-") && $0.name != "immutable"
        }.map { $0.limited(to: left) }
        let isDecided = ending.contains { Directive.decidingFreshness.contains($0.name) }
        return isDecided ? ending : ending + [.init("max-age", left)]
    }
}

/// A member of `Cache-Control`.
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

    /// `nil` for what is not handed on. A time that cannot be read is 0.
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
