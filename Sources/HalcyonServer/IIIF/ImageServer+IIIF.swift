import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerPlans
import HalcyonStorage
import HalcyonWork
import NIOCore
import NIOFoundationCompat

extension ImageServer {
    /// Answers a request of the IIIF Image API; `path` follows its prefix.
    func answer(
        _ iiif: IIIFService, _ path: String, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        let (asked, address) = try Failure.ofPlan { () throws(PlanError) in
            (
                try IIIFRequest(path: path),
                try PublicAddress.base(
                    configured: configuration.publicURL, forwarded: request.forwarded,
                    host: request.fields.values("Host"))
            )
        }
        let base =
            address + (configuration.publicURL == nil ? request.mount + prefix : "") + iiif.prefix
        let timer = startTimer(request)
        defer { timer.cancel() }
        request.watch()
        var answer: ServerAnswer
        switch asked {
        case .base(let identifier):
            answer = ServerAnswer(
                status: 303, fields: ["Location": "\(base)\(identifier.encoded)/info.json"],
                body: ByteBuffer())
        case .info(let identifier):
            notes.route = "iiif_info"
            answer = try await document(
                iiif, identifier, base + identifier.encoded, request, &notes)
        case .image(let identifier, let parameters):
            answer = try await picture(
                iiif, identifier, parameters, base + identifier.encoded, request, &notes)
        }
        // Viewers of other sites are what this is for.
        if configuration.http.allowOrigin.isEmpty {
            answer.fields.append("Access-Control-Allow-Origin", "*")
        }
        return answer
    }

    private func document(
        _ iiif: IIIFService, _ identifier: IIIFIdentifier, _ uri: String, _ request: ServerRequest,
        _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        let (source, header) = try await opened(iiif, identifier, request, &notes)
        let info = IIIFInfo(
            id: uri, size: header.size, limits: iiif.limits, formats: OutputFormat.writable,
            extras: iiif.extras)
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
                "Cache-Control": cacheControl(.picture(source.originCaching), now: Date()).field,
            ], body: ByteBuffer(data: text))
    }

    private func picture(
        _ iiif: IIIFService, _ identifier: IIIFIdentifier, _ parameters: IIIFParameters,
        _ uri: String, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        guard OutputFormat.writable.contains(parameters.format) else {
            throw Failure(.iiifFormat, "\(parameters.format.rawValue) cannot be written here")
        }
        let (source, header) = try await opened(iiif, identifier, request, &notes)
        let geometry = try Failure.ofPlan { () throws(PlanError) in
            try IIIFGeometry(parameters, picture: header.size, limits: iiif.limits)
        }
        let plan = "iiif/" + geometry.canonicalText
        let tag: @Sendable (_ validator: String) -> String = { [epoch] validator in
            ResultTag(source: validator, plan: plan, variant: "", epoch: epoch).text
        }
        var fields: HTTPFields = [
            "Link": IIIFInfo.linkField(canonical: "\(uri)/\(geometry.canonicalText)"),
            "Cache-Control": cacheControl(.picture(source.originCaching), now: Date()).field,
        ]
        let entityTag = tag(source.validator)
        if configuration.http.sendsETag { fields.append("ETag", entityTag) }
        if configuration.http.sendsETag,
            conditions(of: request).isMet(tag: entityTag, lastModified: nil)
        {
            notes.cache = "not_modified"
            return ServerAnswer(status: 304, fields: fields)
        }
        var order = PictureMaker.Order(
            source: source, plan: plan, tag: tag,
            work: IIIFExecution(parameters: parameters, geometry: geometry, rules: rules),
            isStorable: mayKeepResults(of: source))
        order.deadline = request.start + configuration.work.requestTimeout
        let picture: MadePicture
        if let known = makers.remembered(order) {
            notes.cache = "hit"
            picture = known
        } else {
            let (made, _) = try await makers.picture(order, until: request.ending)
            notes.cache = made.place == .made ? "miss" : "hit"
            notes.stages = made.stages
            picture = made.picture
        }
        if picture.isTruncated { fields.append("X-Truncated", "1") }
        notes.output = picture.format.name
        fields.append("Content-Type", OutputFormat(picture.format)?.mediaType ?? "image/jpeg")
        fields.append("Cross-Origin-Resource-Policy", "cross-origin")
        return ServerAnswer(status: 200, fields: fields, body: picture.body)
    }

    /// The source of an identifier, and what its header says.
    func opened(
        _ iiif: IIIFService, _ identifier: IIIFIdentifier, _ request: ServerRequest,
        _ notes: inout AnswerNotes
    ) async throws(Failure) -> (FoundSource, SourceHeader) {
        notes.source = identifier.text
        let source = try await iiif.find(
            identifier, in: sources, for: asker(of: request), until: request.ending)
        let key = "\(source.key)\n\(source.validator)"
        if let known = headers.value(forKey: key) { return (source, known) }
        let (data, _) = try await sources.bytes(of: source, until: request.ending)
        let limits = rules.decodingLimits
        let result = await DecodingPool.shared.run { () -> Result<SourceHeader, Failure> in
            do {
                let image = try Image.decoding(
                    data, options: ImageCreatingOptions(limits: limits))
                return .success(SourceHeader(Dimensions(image.pixelSize)))
            } catch let error as ImageCodingError {
                return .failure(Failure(error))
            } catch {
                return .failure(Failure(.sourceDamaged, "The source cannot be read"))
            }
        }
        let header = try result.get()
        if source.visit?.isUndisturbed != false { headers.store(value: header, forKey: key) }
        return (source, header)
    }
}
