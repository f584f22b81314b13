import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOFoundationCompat

struct PageHandler: Sendable {
    let isLoopbackOnly: Bool
    /// Whether only names of this machine count as the host of the page.
    let checksHost: Bool
    /// The endings of the local sources that are samples.
    let sampleEndings: [String]
    let maxUploadBytes: Int
    let processing: ProcessingHandler
    let info: InfoHandler
    let uploads: PageUploads
    let writer: PageURLWriter
    let errors: ErrorAnswers

    func answer(
        _ route: PageRoute, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        try checkHost(request)
        notes.route = "page"
        guard route.isPost == (request.method == "POST") else {
            throw Failure(.methodNotAllowed, "\(request.method) is not what this path takes")
        }
        switch route {
        case .start:
            return ServerAnswer(
                status: 303, fields: ["Location": writer.folder, "Cache-Control": "no-store"],
                body: ByteBuffer())
        case .page: return try await document(request)
        case .style: return asset(.style, request)
        case .script: return asset(.script, request)
        case .sign:
            try PageToken.check(request)
            return try await signed(request)
        case .upload:
            try PageToken.check(request)
            return try await uploaded(request)
        case .image(let target):
            let plan = try writer.reader.plan(target, for: request).plan
            return try await processing.answer(plan, request, &notes, from: uploads)
                .unstored
        case .info(let target):
            return try await info.answer(target, request, &notes, from: uploads).unstored
        }
    }

    /// Rejects foreign host names that resolve to this machine (DNS rebinding): browsers would take
    /// a page from there for the page here, and let it read what that shows and signs.
    private func checkHost(_ request: ServerRequest) throws(Failure) {
        guard checksHost, request.peer != nil else { return }
        let host = request.fields.first("Host") ?? ""
        let name =
            host.hasPrefix("[") ? host.prefix { $0 != "]" }.dropFirst() : host.prefix { $0 != ":" }
        guard
            name == "localhost" || name == "::1"
                || name.hasPrefix("127.") && IPAddress(String(name)) != nil
        else { throw Failure(.forbidden, "The host of the request is not this machine") }
    }

    private func document(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let token = PageToken(for: request)
        var document = PageDocument(fields: PageFields(target: request.target), token: token.text)
        document.isPublic = !isLoopbackOnly
        document.hasWatermark = processing.watermarks.picture != nil
        let policy = processing.sources.finder.policy
        document.fetches = policy.allowsHTTP && !policy.patterns.isEmpty
        document.samples = await samples()
        if let source = document.fields.source {
            do throws(Failure) {
                document.urls = try writer.urls(
                    document.fields, source: source, address: try writer.addresses.base(of: request)
                )
            } catch {
                document.failure = errors.text(of: error)
            }
        }
        document.exampleURL = { [writer] fields in
            // Examples that are not allowed are left out.
            fields.source.flatMap { try? writer.picturePath(fields, source: $0) }
        }
        return ServerAnswer(
            status: 200,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
                "Content-Security-Policy": PageDocument.securityPolicy,
                "Set-Cookie": token.cookieField(path: writer.folder),
            ], body: ByteBuffer(string: document.html))
    }

    private func asset(_ asset: PageAsset, _ request: ServerRequest) -> ServerAnswer {
        var fields: HTTPFields = ["ETag": asset.tag, "Cache-Control": "no-cache"]
        guard !errors.caching.isKnown(asset.tag, to: request) else {
            return ServerAnswer(status: 304, fields: fields)
        }
        fields.append("Content-Type", asset.mediaType)
        return ServerAnswer(status: 200, fields: fields, body: ByteBuffer(bytes: asset.bytes))
    }

    private func signed(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let alarm = processing.timer.start(request)
        defer { alarm.cancel() }
        let body = try await request.body(16 << 10)
        let fields = PageFields(form: String(buffer: body))
        guard let source = fields.source else { throw Failure(.invalidPath, "There is no source") }
        let address = try writer.addresses.base(of: request)
        do throws(Failure) {
            var urls = try writer.urls(fields, source: source, address: address)
            request.watch()
            // Without the source's header there is no such URL; the picture tells the reason.
            urls.iiif = try? await writer.iiifURL(
                fields, source: source, address: address,
                for: processing.sources.asker(of: request), until: request.ending)
            return try .json(urls)
        } catch {
            // Faults of the form are told in full: they are shown only to its sender.
            let body = ErrorBody(
                errors.text(of: error), detail: .full, accept: ["application/json"],
                requestID: request.id)
            return ServerAnswer(
                status: error.kind.status,
                fields: ["Content-Type": body.contentType, "Cache-Control": "no-store"],
                body: ByteBuffer(string: body.text))
        }
    }

    private func uploaded(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let place = try await uploads.gate.enter()
        defer { uploads.gate.leave(place) }
        let alarm = processing.timer.start(request)
        defer { alarm.cancel() }
        let body = try await request.body(maxUploadBytes)
        return try .json(["source": try uploads.keep(Data(buffer: body))])
    }

    /// Returns local sources as samples; none unless only this machine can connect.
    private func samples() async -> [String] {
        guard isLoopbackOnly, let local = processing.sources.finder.local else { return [] }
        let names = await local.names(extensions: sampleEndings)
        return names.prefix(24).map { "local:///" + $0 }
    }
}

extension ServerAnswer {
    /// The response with `no-store`.
    fileprivate var unstored: ServerAnswer {
        var copy = self
        copy.fields.set("Cache-Control", to: "no-store")
        return copy
    }
}
