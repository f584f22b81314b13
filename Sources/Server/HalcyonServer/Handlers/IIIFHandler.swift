import Foundation
import Halcyon
import HalcyonCluster
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
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
        switch asked {
        case .base(let identifier):
            return ServerAnswer(
                status: 303, fields: ["Location": "\(base)\(identifier.encoded)/info.json"],
                body: ByteBuffer())
        case .info(let identifier):
            notes.route = "iiif_info"
            return try await document(iiif, identifier, base + identifier.encoded, request, &notes)
        case .image(let identifier, let parameters):
            return try await picture(
                iiif, identifier, parameters, base + identifier.encoded, request, &notes)
        }
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
                "Cache-Control": cacheControl(.picture(source.originCaching), now: time.date).field,
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
        // What the settings say of all pictures counts for these, too.
        let plan = ImagePlan(
            source: identifier.text, options: configuration.processing.defaultOptions)
        let canonical = (["iiif", geometry.canonicalText] + plan.options.canonicalSegments)
            .joined(separator: "/")
        let tag: @Sendable (_ validator: String) -> String = { [epoch] validator in
            ResultTag(source: validator, plan: canonical, variant: "", epoch: epoch).text
        }
        let head = PictureHead(
            tag: tag(source.validator), source: source,
            cacheControl: cacheControl(.picture(source.originCaching), now: time.date).field,
            isNegotiated: false)
        var order = PictureMaker.Order(
            source: source, plan: canonical, tag: tag,
            work: IIIFExecution(
                parameters: parameters, geometry: geometry, options: plan.options, rules: rules),
            isStorable: mayKeepResults(of: source))
        order.deadline = request.start + configuration.work.requestTimeout
        var answer =
            if let answer = unchanged(head, plan, request, &notes) {
                answer
            } else {
                try await answer(order, head, plan, request, &notes)
            }
        answer.fields.set(
            "Link", to: IIIFInfo.linkField(canonical: "\(uri)/\(geometry.canonicalText)"))
        return answer
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
        if let failure = makers.failures[key] { throw failure }
        let (data, _) = try await sources.bytes(of: source, until: request.ending)
        let limits = rules.decodingLimits
        let result = await DecodingPool.shared.run { () -> Result<SourceHeader, Failure> in
            do {
                let image = try Image.decoding(data, options: ImageCreatingOptions(limits: limits))
                return .success(SourceHeader(size: Dimensions(image.pixelSize)))
            } catch let error as ImageCodingError {
                return .failure(Failure(error))
            } catch {
                return .failure(Failure(.sourceDamaged, "The source cannot be read"))
            }
        }
        if case .failure(let failure) = result {
            makers.failures.note(failure, for: key, of: source, as: nil)
        }
        let header = try result.get()
        if source.visit?.isUndisturbed != false { headers.store(value: header, forKey: key) }
        return (source, header)
    }
}
