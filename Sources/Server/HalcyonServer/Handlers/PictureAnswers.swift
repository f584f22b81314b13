import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import NIOCore

/// The values behind the header fields of a picture's response.
struct PictureHead: Sendable {
    let tag: String
    let source: FoundSource
    var cacheControl: String
    /// Whether another client might get another format.
    let isNegotiated: Bool
    /// Whether the client's hints could act.
    var followsHints = false
    /// Whether the picture has a substitute format, chosen for lack of time.
    var isSubstitute = false
    var cacheStatus = ""
    /// Seconds since the picture's source was known to be good.
    var age: Int?
    var stages: [(name: String, duration: Duration)] = []
    /// `nil` unless the picture has just been made.
    var sizes: Sizes?

    struct Sizes: Sendable {
        let source: PixelSize
        let result: PixelSize
        let sourceBytes: Int?
    }
}

extension ImageServer {
    /// The header fields of a picture; `format` is `nil` for 304, which has no content.
    func fields(_ head: PictureHead, _ plan: ImagePlan, _ format: OutputFormat?) -> HTTPFields {
        let http = configuration.http
        var fields = HTTPFields()
        if let format {
            fields.append("Content-Type", format.mediaType)
            fields.append(
                "Content-Disposition", ContentDisposition(plan: plan, format: format).field)
            fields.append("Accept-Ranges", "none")
        }
        fields.append("Cache-Control", head.cacheControl)
        if http.sendsETag, !head.isSubstitute { fields.append("ETag", head.tag) }
        if http.sendsLastModified, !head.isSubstitute, let date = head.source.lastModified {
            fields.append("Last-Modified", HTTPDate.text(date))
        }
        var vary: [String] = head.isNegotiated ? ["Accept"] : []
        if configuration.negotiation.usesClientHints {
            if head.followsHints { vary += ClientHints.fieldNames }
            fields.append("Accept-CH", ClientHints.requestedNames.joined(separator: ", "))
        }
        if !vary.isEmpty { fields.append("Vary", vary.joined(separator: ", ")) }
        if let age = head.age { fields.append("Age", String(age)) }
        fields.append("Cross-Origin-Resource-Policy", "cross-origin")
        fields.append("Cache-Status", head.cacheStatus)
        if http.sendsCanonical, let link = Self.canonicalLink(plan.source) {
            fields.append("Link", link)
        }
        if http.sendsDebugHeaders || configuration.isLoopbackOnly {
            let parts = head.stages.map { name, duration in
                "\(name);dur=\(Self.milliseconds(duration))"
            }
            fields.append("Server-Timing", parts.joined(separator: ", "))
        }
        if http.sendsDebugHeaders, let sizes = head.sizes {
            fields.append("X-Origin-Width", String(sizes.source.width))
            fields.append("X-Origin-Height", String(sizes.source.height))
            if let bytes = sizes.sourceBytes {
                fields.append("X-Origin-Content-Length", String(bytes))
            }
            fields.append("X-Result-Width", String(sizes.result.width))
            fields.append("X-Result-Height", String(sizes.result.height))
        }
        return fields
    }

    /// - Parameter explaining: Whether to give the reason whatever the settings say, as to operators.
    func errorAnswer(
        _ failure: Failure, to request: ServerRequest, explaining: Bool = false
    ) -> ServerAnswer {
        // Without signatures, it is the operator who asks.
        let isFull = explaining || isUnsigned || configuration.http.errorBodies == .full
        let body = ErrorBody(
            failure.told(advising: isUnsigned), detail: isFull ? .full : .brief,
            accept: request.fields.values("Accept"), requestID: request.id)
        var fields: HTTPFields = ["Content-Type": body.contentType]
        fields.append("Cache-Control", cacheControl(.failure(failure.kind), now: time.date).field)
        if failure.isRemembered { fields.append("Cache-Status", "halcyon; hit; detail=negative") }
        if failure.kind.asksToRetry {
            fields.append("Retry-After", String(failure.retryAfter ?? wait(after: failure)))
        }
        if failure.kind == .methodNotAllowed { fields.append("Allow", Self.methods) }
        if failure.kind == .draining { fields.append("Connection", "close") }
        return ServerAnswer(
            status: failure.kind.status, fields: fields, body: ByteBuffer(string: body.text))
    }

    /// Whether URLs need no signature, which is possible where nobody but this machine can connect.
    var isUnsigned: Bool { !configuration.signature.isRequired }

    /// Returns the seconds until a retry is worthwhile.
    private func wait(after failure: Failure) -> Int {
        guard failure.kind == .deadline else { return 1 }
        return max(makers.gate.secondsUntilFree, makers.downloads.secondsUntilFree)
    }

    func cacheControl(
        _ answer: CacheControlDecision.Answer, expires: Int? = nil, now: Date
    ) -> CacheControlDecision {
        let http = configuration.http
        var settings = CacheControlDecision.Settings()
        settings.ttl = (http.ttl ?? .seconds(31_536_000)).wholeSeconds
        settings.maxTTL = http.maxTTL.wholeSeconds
        settings.errorTTL = http.errorTTL.wholeSeconds
        settings.negativeTTL = configuration.cache.negativeTTL.wholeSeconds
        settings.fallbackTTL = configuration.fallback.ttl.wholeSeconds
        settings.staleWhileRevalidate = http.staleWhileRevalidate?.wholeSeconds
        settings.passesOriginOn = http.passesCacheControl
        settings.keepsNothing = http.ttl == nil && !configuration.signature.isRequired
        return CacheControlDecision(
            answer, expires: expires, now: now.timeIntervalSince1970, settings: settings)
    }

    /// Adds the header fields of all responses.
    func complete(_ answer: inout ServerAnswer, for request: ServerRequest) {
        answer.fields.append("X-Request-ID", request.id)
        if let times = answer.fields.first("Server-Timing") {
            let total = Self.milliseconds(time.now - request.start)
            let parts = times.isEmpty ? [] : [times]
            answer.fields.set(
                "Server-Timing", to: (parts + ["total;dur=\(total)"]).joined(separator: ", "))
        }
        noteForwarding(in: &answer, to: request)
        // A cache in front would hand it to clients without the token (RFC 9111, section 3.5).
        if configuration.secret != nil { answer.makePrivate() }
        answer.fields.append("X-Content-Type-Options", "nosniff")
        answer.fields.append("Referrer-Policy", "no-referrer")
        if !answer.fields.contains("Content-Security-Policy") {
            answer.fields.append(
                "Content-Security-Policy",
                "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'")
        }
        addOrigin(to: &answer, for: request)
    }

    /// Adds the request fields forwarded to sources to `Vary`; a response to a request that has
    /// such a field becomes private.
    private func noteForwarding(in answer: inout ServerAnswer, to request: ServerRequest) {
        let names = configuration.sources.http.forwardHeaders
            .filter(ForwardedFields.tellsSourcesApart)
        let routes = ["processing", "info", "iiif", "iiif_info"]
        guard !names.isEmpty, routes.contains(answer.notes.route) else { return }
        let vary = (answer.fields.first("Vary").map { [$0] } ?? []) + names
        answer.fields.set("Vary", to: vary.joined(separator: ", "))
        // Caches on the way may not know fields of this kind, and share what is public.
        if names.contains(where: request.fields.contains) { answer.makePrivate() }
    }

    /// Returns the origins whose pages may read the responses of a route: of IIIF, all by default.
    func allowedOrigins(_ route: String) -> [String] {
        let isIIIF = route == "iiif" || route == "iiif_info"
        let allowed = configuration.http.allowOrigin
        return allowed.isEmpty && isIIIF ? ["*"] : allowed
    }

    private func addOrigin(to answer: inout ServerAnswer, for request: ServerRequest) {
        let allowed = allowedOrigins(answer.notes.route)
        guard !allowed.isEmpty else { return }
        if allowed == ["*"] {
            answer.fields.append("Access-Control-Allow-Origin", "*")
        } else {
            let vary = answer.fields.first("Vary").map { $0 + ", Origin" } ?? "Origin"
            answer.fields.set("Vary", to: vary)
            guard let origin = request.fields.first("Origin"), allowed.contains(origin) else {
                return
            }
            answer.fields.append("Access-Control-Allow-Origin", origin)
        }
        answer.fields.append("Timing-Allow-Origin", "*")
        answer.fields.append(
            "Access-Control-Expose-Headers",
            "Content-Length, ETag, Link, Server-Timing, Cache-Status")
    }

    static func milliseconds(_ duration: Duration) -> String { String(tenths(duration)) }

    /// Milliseconds, to tenths.
    static func tenths(_ duration: Duration) -> Double {
        (duration / .milliseconds(1) * 10).rounded() / 10
    }

    /// Returns an http source as a canonical link; `nil` for other sources, and for ones whose
    /// query may hold secrets.
    private static func canonicalLink(_ source: String) -> String? {
        guard source.hasPrefix("http://") || source.hasPrefix("https://"),
            let url = URL(string: source)
        else { return nil }
        guard !source.lowercased().contains("x-amz-"), source.maskingSecrets == source else {
            return nil
        }
        return "<\(url.absoluteString)>; rel=\"canonical\""
    }
}

extension ServerAnswer {
    /// Keeps caches that serve several clients from storing it.
    fileprivate mutating func makePrivate() {
        guard let caching = fields.first("Cache-Control") else { return }
        let directives = caching.split(separator: ", ").filter {
            $0 != "public" && $0 != "private" && !$0.hasPrefix("s-maxage=")
        }
        guard !directives.contains("no-store") else { return }
        fields.set("Cache-Control", to: (["private"] + directives).joined(separator: ", "))
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int { Int(clamping: components.seconds) }
}
