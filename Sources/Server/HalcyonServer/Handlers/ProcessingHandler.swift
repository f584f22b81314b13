import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOPosix

extension ImageServer {
    /// Answers with the picture of a plan, or with 304 when the client has it.
    func picture(
        _ plan: ImagePlan, _ request: ServerRequest, _ notes: inout AnswerNotes,
        from scope: SourceScope = .servers
    ) async throws(Failure) -> ServerAnswer {
        guard !plan.isExpired(at: time.date.timeIntervalSince1970) else {
            throw Failure(.expired, "The URL was good until some time ago")
        }
        notes.source = plan.source
        let timer = startTimer(request)
        defer { timer.cancel() }
        request.watch()
        let failure: Failure
        do throws(Failure) {
            let source = try await source(
                plan.source, limit: plan.options.limits.sourceBytes, from: scope,
                for: request, naming: naming(plan, request))
            return try await picture(plan, of: source, request, &notes)
        } catch {
            failure = error
        }
        return try await fallback(for: failure, plan, request, &notes)
    }

    /// Answers with the fallback image in place of a failed source, processed by the same plan.
    private func fallback(
        for failure: Failure, _ plan: ImagePlan, _ request: ServerRequest,
        _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        guard let fallback, failure.kind.allowsFallback else { throw failure }
        let plan = plan.forFallback
        var notesOfFallback = notes
        var answer: ServerAnswer
        do throws(Failure) {
            let source = try await fallback.source(in: sources, until: request.ending)
            answer = try await picture(
                plan, of: source, request, &notesOfFallback, standingIn: true)
        } catch {
            // An error of the source says more than one of its fallback.
            throw failure
        }
        notes = notesOfFallback
        notes.failure = failure
        let status = configuration.fallback.status
        if answer.status == 200 { answer.status = status == 0 ? failure.kind.status : status }
        answer.fields.append("Fallback-Image", "1")
        return answer
    }

    /// Answers with the picture of a plan made of `source`, or with 304.
    ///
    /// - Parameter standingIn: Whether the source is the fallback image instead of the plan's.
    private func picture(
        _ plan: ImagePlan, of source: FoundSource, _ request: ServerRequest,
        _ notes: inout AnswerNotes, standingIn: Bool = false
    ) async throws(Failure) -> ServerAnswer {
        let now = time.date
        let (plan, mark) = try await withWatermark(plan, until: request.ending)
        let (accepted, isNegotiated) = accepted(plan, request)
        let canonical = Self.canonicalText(of: plan, mark)
        let tag = self.tag(canonical, accepted)
        let caching = cacheControl(
            standingIn ? .fallback : .picture(source.originCaching), expires: plan.options.expires,
            now: now)
        let head = PictureHead(
            tag: tag(source.validator), source: source, cacheControl: caching.field,
            isNegotiated: isNegotiated, followsHints: request.followsHints && !plan.options.raw)

        // A fallback sent with a status other than 200 must not be confirmed with 304.
        let mayBeKnown = !standingIn || configuration.fallback.status == 200
        if mayBeKnown, let answer = unchanged(head, plan, request, &notes) { return answer }

        var order = PictureMaker.Order(
            source: source, plan: canonical, tag: tag,
            work: work(plan, accepted, mark?.layer),
            isStorable: !plan.options.raw && mayKeepResults(of: source))
        order.deadline = request.start + configuration.work.requestTimeout
        return try await answer(order, head, plan, request, &notes)
    }

    /// Answers with 304 when the client has the picture; otherwise `nil`.
    func unchanged(
        _ head: PictureHead, _ plan: ImagePlan, _ request: ServerRequest,
        _ notes: inout AnswerNotes
    ) -> ServerAnswer? {
        let http = configuration.http
        guard http.sendsETag || http.sendsLastModified,
            conditions(of: request).isMet(
                tag: http.sendsETag ? head.tag : "",
                lastModified: http.sendsLastModified ? head.source.lastModified : nil)
        else { return nil }
        notes.cache = "not_modified"
        var head = head
        head.cacheStatus = status(of: head.source, detail: nil)
        return ServerAnswer(status: 304, fields: fields(head, plan, nil))
    }

    /// Answers with the picture of an order, from memory where it is there.
    func answer(
        _ order: PictureMaker.Order, _ head: PictureHead, _ plan: ImagePlan,
        _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        let source = head.source
        var head = head
        if let picture = makers.remembered(order) {
            notes.cache = source.isStale ? "stale" : "hit"
            notes.tier = "memory"
            head.cacheStatus = status(of: source, detail: "memory")
            head.age = source.age(at: time.date)
            return answer(picture, head, plan, &notes)
        }
        let (made, isShared) = try await makers.picture(order, until: request.ending)
        switch made.place {
        case .memory, .disk, .shared:
            notes.cache = source.isStale ? "stale" : "hit"
            notes.tier = made.place.rawValue
            head.cacheStatus = status(of: source, detail: made.place.rawValue)
            head.age = source.age(at: time.date)
        case .made:
            notes.cache = "miss"
            let isSubstitute = made.product?.isSubstitute == true
            if isSubstitute { noteSubstitute(&head, plan) }
            head.cacheStatus =
                missStatus(of: source, isStored: order.isStorable && !isSubstitute)
                + (isShared || source.isShared ? "; collapsed" : "")
            head.stages = made.stages
            notes.stages = made.stages
            note(made, &notes)
            head.sizes = made.product.map {
                PictureHead.Sizes(
                    source: $0.sourceSize, result: $0.size, sourceBytes: made.sourceBytes)
            }
        }
        return answer(made.picture, head, plan, &notes)
    }

    /// Limits the caching of a picture whose format was substituted for lack of time, and has it
    /// sent without validators.
    private func noteSubstitute(_ head: inout PictureHead, _ plan: ImagePlan) {
        let now = time.date
        let end = Int(now.timeIntervalSince1970) + Int(configuration.fallback.ttl.inSeconds)
        head.isSubstitute = true
        head.cacheControl =
            cacheControl(
                .picture(head.source.originCaching), expires: min(plan.options.expires ?? end, end),
                now: now
            ).field
    }

    /// Names the picture for other servers, whatever its source is; `nil` when nothing is shared.
    private func naming(_ plan: ImagePlan, _ request: ServerRequest) -> PictureNaming? {
        guard cluster?.work != nil, !plan.options.raw else { return nil }
        return { [self] source, url in
            // A failing watermark is reported when the picture is to be made.
            guard let (plan, mark) = try? await withWatermark(plan, until: request.ending) else {
                return nil
            }
            let canonical = Self.canonicalText(of: plan, mark)
            let tag = self.tag(canonical, accepted(plan, request).formats)
            return SharedPictureName(
                PictureOrigin(source: source, url: url, plan: canonical), tag: tag(""))
        }
    }

    /// Returns a function from a source's validator to the tag of the result.
    private func tag(
        _ canonical: String, _ accepted: AcceptedFormats
    ) -> @Sendable (_ validator: String) -> String {
        { [epoch] validator in
            ResultTag(
                source: validator, plan: canonical, variant: accepted.variant, epoch: epoch
            ).text
        }
    }

    /// Returns one text for all plans that give the same result for a source.
    static func canonicalText(of plan: ImagePlan, _ mark: PresentWatermark?) -> String {
        plan.canonicalText + (mark.map { "\nwatermark \($0.version)" } ?? "")
    }

    private func work(
        _ plan: ImagePlan, _ accepted: AcceptedFormats, _ watermark: WatermarkLayer?
    ) -> any PictureWork {
        guard !plan.options.raw else { return RawExecution(options: plan.options, rules: rules) }
        return PlanExecution(
            options: plan.options, accepted: accepted, rules: rules, watermark: watermark)
    }

    /// Whether results of a source may be cached: there is a cache, the source is not private, and
    /// its server allows it as far as its rules count.
    func mayKeepResults(of source: FoundSource) -> Bool {
        let results = configuration.cache.results
        guard !source.isPrivate else { return false }
        guard results.bytes > 0 || results.memoryBytes > 0 else { return false }
        guard configuration.http.passesCacheControl else { return true }
        var settings = CacheControlDecision.Settings()
        settings.passesOriginOn = true
        return CacheControlDecision(
            .picture(source.originCaching), now: time.date.timeIntervalSince1970, settings: settings
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
        metrics.responseBytes.observe(Double(picture.body.readableBytes), [picture.format.name])
        var fields = fields(head, plan, OutputFormat(picture.format))
        if picture.isTruncated { fields.append("X-Truncated", "1") }
        return ServerAnswer(status: 200, fields: fields, body: picture.body)
    }

    /// Starts the timer that ends the request with `deadline` after the request timeout.
    func startTimer(_ request: ServerRequest) -> Alarm {
        time.alarm(
            at: time.now + configuration.work.requestTimeout,
            on: MultiThreadedEventLoopGroup.singleton.any()
        ) { request.ending.give(.deadline) }
    }

    /// Returns the formats that the client accepts, and whether they matter for a plan.
    private func accepted(
        _ plan: ImagePlan, _ request: ServerRequest
    ) -> (formats: AcceptedFormats, isNegotiated: Bool) {
        let negotiation = AcceptNegotiation(
            formats: configuration.negotiation.formats.compactMap(OutputFormat.init(urlName:)))
        guard negotiation.concerns(plan) else { return (AcceptedFormats(), false) }
        let accept = request.fields.values("Accept")
        let writable = OutputFormat.writable
        func best(isAnimated: Bool = false, _ canWrite: (OutputFormat) -> Bool) -> OutputFormat? {
            negotiation.format(accept: accept, isAnimated: isAnimated, canWrite: canWrite)
        }
        let still = best(writable.contains)
        // Most formats have no pictures that are too small for them.
        let small =
            still.map(\.minimumSide) == 1
            ? still : best { writable.contains($0) && $0.minimumSide == 1 }
        let formats = AcceptedFormats(
            still: still, animated: best(isAnimated: true, writable.contains), small: small)
        return (formats, true)
    }

    func conditions(of request: ServerRequest) -> ConditionalRequest {
        let dates = request.fields.values("If-Modified-Since")
        return ConditionalRequest(
            ifNoneMatch: request.fields.values("If-None-Match"),
            ifModifiedSince: dates.count == 1
                ? HTTPDateParser.date(dates[0], now: time.date) : nil)
    }
}

extension ImagePlan {
    /// This plan for the fallback image, which is never sent unprocessed.
    var forFallback: ImagePlan {
        var plan = self
        plan.options.raw = false
        return plan
    }
}

extension FoundSource {
    /// Whether the source is used although it is stale.
    fileprivate var isStale: Bool { if case .hit(let ttl, _) = use { ttl < 0 } else { false } }
}

extension ImageServer {
    /// Returns `Cache-Status` for a hit (RFC 9211).
    private func status(of source: FoundSource, detail: String?) -> String {
        let place = detail.map { "; detail=\($0)" } ?? ""
        switch source.use {
        case .hit(let ttl, let tier):
            return "halcyon; hit; ttl=\(ttl)" + (ttl < 0 ? "; detail=\(tier)" : place)
        case .validated: return "halcyon; fwd=stale; fwd-status=304"
        // Another server may have made the requested picture of it.
        case .fetched: return "halcyon; fwd=uri-miss; fwd-status=200" + place
        case .replaced: return "halcyon; fwd=stale; fwd-status=200"
        case nil: return "halcyon; hit" + place
        }
    }

    private func missStatus(of source: FoundSource, isStored: Bool) -> String {
        guard isStored else { return "halcyon; fwd=bypass" }
        let stored = "; stored"
        switch source.use {
        case .hit: return "halcyon; fwd=uri-miss\(stored); detail=source"
        case .validated: return "halcyon; fwd=stale; fwd-status=304\(stored)"
        case .replaced: return "halcyon; fwd=stale; fwd-status=200\(stored)"
        case .fetched, nil: return "halcyon; fwd=uri-miss\(stored)"
        }
    }
}
