import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import NIOCore

/// The values behind the header fields of a picture's response.
struct PictureHead: Sendable {
    let plan: ImagePlan
    let source: FoundSource
    let tag: String
    var cacheControl: String
    /// Whether another client might get another format.
    var isNegotiated = false
    /// Whether the client's hints could act.
    var followsHints = false
    /// Whether the picture has a substitute format, chosen for lack of time.
    var isSubstitute = false
}

struct PictureAnswers: Sendable {
    let caching: AnswerCaching
    let metrics: ServerMetrics
    let time: TimeSource
    let http: ImageServerConfiguration.HTTP
    let usesClientHints: Bool
    let isLoopbackOnly: Bool

    /// Answers with 304 when the client has the picture; otherwise `nil`.
    func unchanged(
        _ head: PictureHead, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) -> ServerAnswer? {
        guard http.sendsETag || http.sendsLastModified,
            caching.isKnown(
                http.sendsETag ? head.tag : "",
                lastModified: http.sendsLastModified ? head.source.lastModified : nil, to: request)
        else { return nil }
        notes.cache = "not_modified"
        return ServerAnswer(
            status: 304, fields: fields(head, cacheStatus: head.source.hitStatus(nil)))
    }

    func answer(
        with made: PictureMaker.Made, isStorable: Bool, _ head: PictureHead,
        _ notes: inout AnswerNotes
    ) -> ServerAnswer {
        var head = head
        let source = head.source
        let cacheStatus: String
        if made.place == .made {
            head.isSubstitute = made.product?.isSubstitute == true
            if head.isSubstitute {
                head.cacheControl = caching.field(
                    forSubstituteOf: source, expires: head.plan.options.expires)
            }
            cacheStatus =
                source.missStatus(isStored: isStorable && !head.isSubstitute)
                + (made.isShared || source.isShared ? "; collapsed" : "")
            notes.take(made)
        } else {
            notes.cache = source.isStale ? "stale" : "hit"
            notes.tier = made.place.rawValue
            cacheStatus = source.hitStatus(made.place.rawValue)
        }
        let (picture, format) = (made.picture, made.picture.format)
        notes.output = format.name
        metrics.responseBytes.observe(Double(picture.body.readableBytes), [format.name])
        var fields = fields(head, OutputFormat(format), made, cacheStatus: cacheStatus)
        if picture.isTruncated { fields.append("X-Truncated", "1") }
        return ServerAnswer(status: 200, fields: fields, body: picture.body)
    }

    /// The header fields of a picture; `made` is `nil` for 304, which has no content.
    private func fields(
        _ head: PictureHead, _ format: OutputFormat? = nil, _ made: PictureMaker.Made? = nil,
        cacheStatus: String
    ) -> HTTPFields {
        var fields = HTTPFields()
        if let format {
            fields.append("Content-Type", format.mediaType)
            fields.append(
                "Content-Disposition", ContentDisposition(plan: head.plan, format: format).field)
            fields.append("Accept-Ranges", "none")
        }
        fields.append("Cache-Control", head.cacheControl)
        // A substitute has no validators.
        if http.sendsETag, !head.isSubstitute { fields.append("ETag", head.tag) }
        if http.sendsLastModified, !head.isSubstitute, let date = head.source.lastModified {
            fields.append("Last-Modified", HTTPDate.text(date))
        }
        var vary: [String] = head.isNegotiated ? ["Accept"] : []
        if usesClientHints {
            if head.followsHints { vary += ClientHints.fieldNames }
            fields.append("Accept-CH", ClientHints.requestedNames.joined(separator: ", "))
        }
        if !vary.isEmpty { fields.append("Vary", vary.joined(separator: ", ")) }
        if let made, made.place != .made, let age = head.source.age(at: time.date) {
            fields.append("Age", String(age))
        }
        fields.append("Cross-Origin-Resource-Policy", "cross-origin")
        fields.append("Cache-Status", cacheStatus)
        if http.sendsCanonical, let link = Self.canonicalLink(head.plan.source) {
            fields.append("Link", link)
        }
        if http.sendsDebugHeaders || isLoopbackOnly {
            let parts = (made?.stages ?? []).map { name, duration in
                "\(name);dur=\(duration.milliseconds)"
            }
            fields.append("Server-Timing", parts.joined(separator: ", "))
        }
        if http.sendsDebugHeaders, let product = made?.product {
            fields.append("X-Origin-Width", String(product.sourceSize.width))
            fields.append("X-Origin-Height", String(product.sourceSize.height))
            if let bytes = made?.sourceBytes {
                fields.append("X-Origin-Content-Length", String(bytes))
            }
            fields.append("X-Result-Width", String(product.size.width))
            fields.append("X-Result-Height", String(product.size.height))
        }
        return fields
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

extension AnswerNotes {
    /// Takes over the facts about a picture that was just made.
    fileprivate mutating func take(_ made: PictureMaker.Made) {
        cache = "miss"
        stages = made.stages
        guard let product = made.product else { return }
        input = product.sourceFormat.name
        width = product.size.width
        height = product.size.height
        frames = product.frameCount
        sourceBytes = made.sourceBytes
    }
}

extension Duration {
    /// Milliseconds, to tenths.
    var milliseconds: Double { (self / .milliseconds(1) * 10).rounded() / 10 }
}

extension FoundSource {
    fileprivate var isStale: Bool { if case .hit(let ttl, _) = use { ttl < 0 } else { false } }

    /// Returns `Cache-Status` for a hit (RFC 9211).
    fileprivate func hitStatus(_ detail: String?) -> String {
        let place = detail.map { "; detail=\($0)" } ?? ""
        switch use {
        case .hit(let ttl, let tier):
            return "halcyon; hit; ttl=\(ttl)" + (ttl < 0 ? "; detail=\(tier)" : place)
        case .validated: return "halcyon; fwd=stale; fwd-status=304"
        // Another server may have made the requested picture of it.
        case .fetched: return "halcyon; fwd=uri-miss; fwd-status=200" + place
        case .replaced: return "halcyon; fwd=stale; fwd-status=200"
        case nil: return "halcyon; hit" + place
        }
    }

    fileprivate func missStatus(isStored: Bool) -> String {
        guard isStored else { return "halcyon; fwd=bypass" }
        let stored = "; stored"
        switch use {
        case .hit: return "halcyon; fwd=uri-miss\(stored); detail=source"
        case .validated: return "halcyon; fwd=stale; fwd-status=304\(stored)"
        case .replaced: return "halcyon; fwd=stale; fwd-status=200\(stored)"
        case .fetched, nil: return "halcyon; fwd=uri-miss\(stored)"
        }
    }
}
