import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOFoundationCompat

struct IIIFHandler: Sendable {
    let opener: IIIFPictures
    let addresses: PublicAddresses
    let sources: RequestSources
    let pictures: PictureMaker
    let answers: PictureAnswers
    let timer: RequestTimer

    private var service: IIIFService { opener.service }
    private var caching: AnswerCaching { answers.caching }

    /// Returns the part of a target that ``answer(_:_:_:)`` takes; `nil` for other targets.
    func path(of target: String) -> String? { service.path(of: target) }

    /// Answers a request; `path` follows the prefix of the API.
    func answer(
        _ path: String, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        let asked = try Failure.ofPlan { () throws(PlanError) in try IIIFRequest(path: path) }
        let base = try addresses.base(of: request, mount: request.mount) + service.prefix
        let alarm = timer.start(request)
        defer { alarm.cancel() }
        request.watch()
        switch asked {
        case .base(let identifier):
            return ServerAnswer(
                status: 303, fields: ["Location": "\(base)\(identifier.encoded)/info.json"],
                body: ByteBuffer())
        case .info(let identifier):
            notes.route = "iiif_info"
            return try await document(identifier, base + identifier.encoded, request, &notes)
        case .image(let identifier, let parameters):
            return try await picture(
                identifier, parameters, base + identifier.encoded, request, &notes)
        }
    }

    private func document(
        _ identifier: IIIFIdentifier, _ uri: String, _ request: ServerRequest,
        _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        notes.source = identifier.text
        let (source, header) = try await opener.opened(
            identifier, for: sources.asker(of: request), until: request.ending)
        let info = IIIFInfo(
            id: uri, size: header.size, limits: service.limits, formats: OutputFormat.writable,
            extras: service.extras)
        guard let text = try? info.encoded() else {
            throw Failure(.internalError, "The document could not be written")
        }
        return ServerAnswer(
            status: 200,
            fields: [
                "Content-Type": DocumentNegotiation.infoType(
                    accept: request.fields.values("Accept")),
                "Vary": "Accept",
                "Link": IIIFInfo.linkField(canonical: nil),
                "Cache-Control": caching.field(.picture(source.originCaching)),
            ], body: ByteBuffer(data: text))
    }

    private func picture(
        _ identifier: IIIFIdentifier, _ parameters: IIIFParameters, _ uri: String,
        _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        guard OutputFormat.writable.contains(parameters.format) else {
            throw Failure(.iiifFormat, "\(parameters.format.rawValue) cannot be written here")
        }
        notes.source = identifier.text
        let (source, header) = try await opener.opened(
            identifier, for: sources.asker(of: request), until: request.ending)
        let geometry = try Failure.ofPlan { () throws(PlanError) in
            try IIIFGeometry(parameters, picture: header.size, limits: service.limits)
        }
        let rules = opener.rules
        // What the settings say of all pictures counts for these, too.
        let options = rules.defaultOptions
        let canonical = (["iiif", geometry.canonicalText] + options.canonicalSegments)
            .joined(separator: "/")
        let tag = rules.tag(plan: canonical)
        let head = PictureHead(
            plan: ImagePlan(source: identifier.text, options: options), source: source,
            tag: tag(source.validator),
            cacheControl: caching.field(.picture(source.originCaching)))
        let linkField = IIIFInfo.linkField(canonical: "\(uri)/\(geometry.canonicalText)")
        if var answer = answers.unchanged(head, request, &notes) {
            answer.fields.set("Link", to: linkField)
            return answer
        }
        let order = PictureMaker.Order(
            source: source, plan: canonical, tag: tag,
            work: IIIFExecution(
                parameters: parameters, geometry: geometry, options: options, rules: rules),
            isStorable: caching.mayKeepResults(of: source), by: timer.deadline(of: request))
        let made = try await pictures.picture(order, until: request.ending)
        var answer = answers.answer(with: made, isStorable: order.isStorable, head, &notes)
        answer.fields.set("Link", to: linkField)
        return answer
    }
}
