import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// The rules by which answers may be kept: by clients, by caches on the way, and here.
struct AnswerCaching: Sendable {
    private let http: ImageServerConfiguration.HTTP
    private let settings: CacheControlDecision.Settings
    private let keepsResults: Bool
    private let time: TimeSource

    init(_ configuration: ImageServerConfiguration, time: TimeSource) {
        http = configuration.http
        var settings = CacheControlDecision.Settings()
        settings.ttl = (http.ttl ?? .seconds(31_536_000)).wholeSeconds
        settings.maxTTL = http.maxTTL.wholeSeconds
        settings.errorTTL = http.errorTTL.wholeSeconds
        settings.negativeTTL = configuration.cache.negativeTTL.wholeSeconds
        settings.fallbackTTL = configuration.fallback.ttl.wholeSeconds
        settings.staleWhileRevalidate = http.staleWhileRevalidate?.wholeSeconds
        settings.passesOriginOn = http.passesCacheControl
        settings.keepsNothing = http.ttl == nil && !configuration.signature.isRequired
        self.settings = settings
        let results = configuration.cache.results
        keepsResults = results.bytes > 0 || results.memoryBytes > 0
        self.time = time
    }

    var sendsETag: Bool { http.sendsETag }

    /// Returns the field `Cache-Control`.
    ///
    /// - Parameter expires: The end of the URL, in seconds since 1970.
    func field(_ answer: CacheControlDecision.Answer, expires: Int? = nil) -> String {
        CacheControlDecision(
            answer, expires: expires, now: time.date.timeIntervalSince1970, settings: settings
        ).field
    }

    /// Returns the field for a picture with a format that was substituted for lack of time.
    func field(forSubstituteOf source: FoundSource, expires: Int?) -> String {
        let end = Int(time.date.timeIntervalSince1970) + settings.fallbackTTL
        return field(.picture(source.originCaching), expires: min(expires ?? end, end))
    }

    /// Whether results of a source may be cached here: there is a cache, the source is not private,
    /// and its server allows it as far as its rules count.
    func mayKeepResults(of source: FoundSource) -> Bool {
        guard keepsResults, !source.isPrivate else { return false }
        guard http.passesCacheControl else { return true }
        var settings = CacheControlDecision.Settings()
        settings.passesOriginOn = true
        return CacheControlDecision(
            .picture(source.originCaching), now: time.date.timeIntervalSince1970, settings: settings
        ).isStorable
    }

    /// Whether the client has the answer: then 304 confirms it.
    ///
    /// - Parameters:
    ///   - tag: The answer's tag; empty without one.
    ///   - lastModified: Of the source; `nil` where it does not count.
    func isKnown(_ tag: String, lastModified: Date? = nil, to request: ServerRequest) -> Bool {
        let dates = request.fields.values("If-Modified-Since")
        let conditions = ConditionalRequest(
            ifNoneMatch: request.fields.values("If-None-Match"),
            ifModifiedSince: dates.count == 1
                ? HTTPDateParser.date(dates[0], now: time.date) : nil)
        return conditions.isMet(tag: tag, lastModified: lastModified)
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int { Int(clamping: components.seconds) }
}
