import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork

/// Answers with the pictures of plans: `/SIGNATURE/rs:fit:300:300/plain/…`.
struct ProcessingHandler: Sendable {
    /// The picture in place of those whose source cannot be loaded.
    struct Fallback: Sendable {
        let picture: StandingPicture
        /// 0 for the status of the failure.
        let status: Int
    }

    let sources: RequestSources
    let watermarks: Watermarks
    let rules: PictureRules
    let pictures: PictureMaker
    let answers: PictureAnswers
    /// `nil` where none is set.
    let fallback: Fallback?
    let timer: RequestTimer

    /// Answers with the picture of a plan, or with 304 when the client has it.
    ///
    /// - Parameter uploads: The only sources, if set.
    func answer(
        _ plan: ImagePlan, _ request: ServerRequest, _ notes: inout AnswerNotes,
        from uploads: PageUploads? = nil
    ) async throws(Failure) -> ServerAnswer {
        guard !plan.isExpired(at: timer.time.date.timeIntervalSince1970) else {
            throw Failure(.expired, "The URL was good until some time ago")
        }
        notes.source = plan.source
        let alarm = timer.start(request)
        defer { alarm.cancel() }
        request.watch()
        let failure: Failure
        do throws(Failure) {
            let source = try await sources.find(
                plan.source, in: uploads, limit: plan.options.limits.sourceBytes, for: request,
                naming: naming(plan, request))
            return try await picture(plan, of: source, request, &notes)
        } catch {
            failure = error
        }
        guard let fallback, failure.kind.allowsFallback else { throw failure }
        var notesOfFallback = notes
        do throws(Failure) {
            let source = try await fallback.picture.source(
                in: sources.finder, until: request.ending)
            var answer = try await picture(
                plan.forFallback, of: source, request, &notesOfFallback, using: fallback)
            notes = notesOfFallback
            notes.failure = failure
            if answer.status == 200 {
                answer.status = fallback.status == 0 ? failure.kind.status : fallback.status
            }
            answer.fields.append("Fallback-Image", "1")
            return answer
        } catch {
            // An error of the source says more than one of its fallback.
            throw failure
        }
    }

    /// Answers with the picture of a plan made of `source`, or with 304.
    ///
    /// - Parameter fallback: Set if the source is the fallback image instead of the plan's.
    private func picture(
        _ plan: ImagePlan, of source: FoundSource, _ request: ServerRequest,
        _ notes: inout AnswerNotes, using fallback: Fallback? = nil
    ) async throws(Failure) -> ServerAnswer {
        let marked = try await watermarks.marked(plan, until: request.ending)
        let (plan, options) = (marked.plan, marked.plan.options)
        let accepted = rules.negotiation.accepted(for: plan, by: request)
        let tag = rules.tag(plan: marked.text, variant: accepted?.variant ?? "")
        let head = PictureHead(
            plan: plan, source: source, tag: tag(source.validator),
            cacheControl: answers.caching.field(
                fallback == nil ? .picture(source.originCaching) : .fallback,
                expires: options.expires),
            isNegotiated: accepted != nil, followsHints: request.followsHints && !options.raw)

        // A fallback sent with a status other than 200 must not be confirmed with 304.
        let mayBeKnown = fallback == nil || fallback?.status == 200
        if mayBeKnown, let answer = answers.unchanged(head, request, &notes) { return answer }

        let work: any PictureWork =
            options.raw
            ? RawExecution(options: options, rules: rules)
            : PlanExecution(
                options: options, accepted: accepted ?? AcceptedFormats(), rules: rules,
                watermark: marked.layer)
        let order = PictureMaker.Order(
            source: source, plan: marked.text, tag: tag, work: work,
            isStorable: !options.raw && answers.caching.mayKeepResults(of: source),
            by: timer.deadline(of: request))
        let made = try await pictures.picture(order, until: request.ending)
        return answers.answer(with: made, isStorable: order.isStorable, head, &notes)
    }

    /// Names the picture for other servers, whatever its source is; `nil` when nothing is shared.
    private func naming(_ plan: ImagePlan, _ request: ServerRequest) -> PictureNaming? {
        guard sources.sharesPictures, !plan.options.raw else { return nil }
        return { [self] source, url in
            // A failing watermark is reported when the picture is to be made.
            guard let marked = try? await watermarks.marked(plan, until: request.ending) else {
                return nil
            }
            let accepted = rules.negotiation.accepted(for: marked.plan, by: request)
            let tag = rules.tag(plan: marked.text, variant: accepted?.variant ?? "")
            return SharedPictureName(
                PictureOrigin(source: source, url: url, plan: marked.text), tag: tag(""))
        }
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

extension AcceptNegotiation {
    /// Returns the formats that the client of a request accepts; `nil` where they do not matter.
    fileprivate func accepted(for plan: ImagePlan, by request: ServerRequest) -> AcceptedFormats? {
        guard concerns(plan) else { return nil }
        let accept = request.fields.values("Accept")
        let writable = OutputFormat.writable
        func best(isAnimated: Bool = false, _ canWrite: (OutputFormat) -> Bool) -> OutputFormat? {
            format(accept: accept, isAnimated: isAnimated, canWrite: canWrite)
        }
        let still = best(writable.contains)
        // Most formats have no pictures that are too small for them.
        let small =
            still.map(\.minimumSide) == 1
            ? still : best { writable.contains($0) && $0.minimumSide == 1 }
        return AcceptedFormats(
            still: still, animated: best(isAnimated: true, writable.contains), small: small)
    }
}
