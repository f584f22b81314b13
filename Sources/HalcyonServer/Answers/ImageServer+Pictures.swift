import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerPlans
import HalcyonWork
import NIOCore

extension ImageServer {
    /// Answers with the picture of a plan, or with 304 when the client has it.
    func picture(
        _ plan: ImagePlan, _ request: ServerRequest, _ notes: inout AnswerNotes,
        from scope: SourceScope = .servers
    ) async throws(Failure) -> ServerAnswer {
        let now = Date()
        guard !plan.isExpired(at: now.timeIntervalSince1970) else {
            throw Failure(.expired, "The URL was good until some time ago")
        }
        notes.source = plan.source
        let timer = startTimer(request)
        defer { timer.cancel() }
        request.watch()
        let source = try await source(plan.source, from: scope, until: request.ending)

        let negotiation = AcceptNegotiation(
            formats: configuration.negotiation.formats.compactMap(OutputFormat.init(urlName:)))
        let isNegotiated = negotiation.concerns(plan)
        let accepted = isNegotiated ? accepted(negotiation, request) : AcceptedFormats()
        let canonical = plan.canonicalText
        let tag: @Sendable (FoundSource) -> String = { source in
            ResultTag(
                source: source.validator, plan: canonical, variant: accepted.variant,
                epoch: Self.epoch
            ).text
        }
        let entityTag = tag(source)
        let caching = cacheControl(
            .picture(source.originCaching), expires: plan.options.expires, now: now)
        var head = PictureHead(
            tag: entityTag, source: source, cacheControl: caching.field, isNegotiated: isNegotiated)

        if configuration.http.sendsETag || configuration.http.sendsLastModified,
            conditions(of: request).isMet(
                tag: configuration.http.sendsETag ? entityTag : "",
                lastModified: configuration.http.sendsLastModified ? source.lastModified : nil)
        {
            notes.cache = "not_modified"
            head.cacheStatus = status(of: source, detail: nil)
            return ServerAnswer(status: 304, fields: fields(head, plan, nil))
        }

        let order = PictureMaker.Order(
            source: source, tag: tag,
            work: PlanExecution(options: plan.options, accepted: accepted, rules: rules),
            isStorable: mayKeepResults(of: source))
        if let picture = makers.remembered(order) {
            notes.cache = source.isStale ? "stale" : "hit"
            head.cacheStatus = status(of: source, detail: "memory")
            head.age = source.age
            return answer(picture, head, plan, &notes)
        }
        let (made, isShared) = try await makers.picture(order, until: request.ending)
        switch made.place {
        case .memory, .disk, .shared:
            notes.cache = source.isStale ? "stale" : "hit"
            head.cacheStatus = status(of: source, detail: made.place.rawValue)
            head.age = source.age
        case .made:
            notes.cache = "miss"
            head.cacheStatus =
                missStatus(of: source, isStored: order.isStorable) + (isShared ? "; collapsed" : "")
            head.stages = made.stages
            notes.stages = made.stages
            note(made, &notes)
        }
        return answer(made.picture, head, plan, &notes)
    }

    /// Whether there is a cache, and the source's server has nothing against it as far as that counts.
    func mayKeepResults(of source: FoundSource) -> Bool {
        let results = configuration.cache.results
        guard !source.isPrivate else { return false }
        guard results.bytes > 0 || results.memoryBytes > 0 else { return false }
        guard configuration.http.passesCacheControl else { return true }
        var settings = CacheControlDecision.Settings()
        settings.passesOriginOn = true
        return CacheControlDecision(
            .picture(source.originCaching), now: Date().timeIntervalSince1970, settings: settings
        ).isStorable
    }

    private func note(_ made: PictureMaker.Made, _ notes: inout AnswerNotes) {
        guard let product = made.product else { return }
        notes.input = product.sourceFormat.name
        notes.width = product.size.width
        notes.height = product.size.height
        notes.frames = product.frameCount
        notes.sourceBytes = made.sourceBytes
    }

    private func answer(
        _ picture: MadePicture, _ head: PictureHead, _ plan: ImagePlan, _ notes: inout AnswerNotes
    ) -> ServerAnswer {
        notes.output = picture.format.name
        metrics.responseBytes.observe(
            Double(picture.body.readableBytes), [picture.format.name])
        return ServerAnswer(
            status: 200, fields: fields(head, plan, OutputFormat(picture.format)),
            body: picture.body)
    }

    /// Has the request ended when its time is over.
    func startTimer(_ request: ServerRequest) -> Task<Void, any Error> {
        let timeout = configuration.work.requestTimeout
        return Task {
            try await Task.sleep(for: timeout)
            request.ending.give(.deadline)
        }
    }

    private func accepted(
        _ negotiation: AcceptNegotiation, _ request: ServerRequest
    ) -> AcceptedFormats {
        let accept = request.fields.values("Accept")
        return AcceptedFormats(
            still: negotiation.format(
                accept: accept, isAnimated: false, canWrite: OutputFormat.writable.contains),
            animated: negotiation.format(
                accept: accept, isAnimated: true, canWrite: OutputFormat.writable.contains))
    }

    func conditions(of request: ServerRequest) -> ConditionalRequest {
        let dates = request.fields.values("If-Modified-Since")
        return ConditionalRequest(
            ifNoneMatch: request.fields.values("If-None-Match"),
            ifModifiedSince: dates.count == 1
                ? HTTPDateParser.date(dates[0], now: Date()) : nil)
    }

    /// Another one whenever a step or an encoder may give other bytes.
    static let epoch = "1"
}

extension FoundSource {
    /// Whether it is used although its time is over.
    fileprivate var isStale: Bool {
        if case .hit(let ttl, _) = use { ttl < 0 } else { false }
    }
}

extension ImageServer {
    /// What `Cache-Status` says of an answer that was there (RFC 9211).
    private func status(of source: FoundSource, detail: String?) -> String {
        switch source.use {
        case .hit(let ttl, let tier):
            let detail = ttl < 0 ? tier : detail
            return "halcyon; hit; ttl=\(ttl)" + (detail.map { "; detail=\($0)" } ?? "")
        case .validated: return "halcyon; fwd=stale; fwd-status=304"
        case .fetched: return "halcyon; fwd=stale; fwd-status=200"
        case nil: return "halcyon; hit" + (detail.map { "; detail=\($0)" } ?? "")
        }
    }

    /// The same of one that was made.
    private func missStatus(of source: FoundSource, isStored: Bool) -> String {
        guard isStored else { return "halcyon; fwd=bypass" }
        let stored = "; stored"
        switch source.use {
        case .hit: return "halcyon; fwd=uri-miss\(stored); detail=source"
        case .validated: return "halcyon; fwd=stale; fwd-status=304\(stored)"
        case .fetched, nil: return "halcyon; fwd=uri-miss\(stored)"
        }
    }
}
