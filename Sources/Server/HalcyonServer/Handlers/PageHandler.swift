import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOFoundationCompat

/// The routes below the page's folder.
enum PageRoute: Sendable, Hashable {
    /// Redirects to the page.
    case start
    case page
    case style
    case script
    case sign
    case upload
    /// A picture of an upload; with the target that the path would have at the top level.
    case image(String)
    /// Information about an upload; with the target, likewise.
    case info(String)

    static let folder = "/playground/"

    /// - Parameter target: The target below the server's prefix, with its query.
    init?(target: String) {
        let path = target.prefix { $0 != "?" }
        switch path {
        case "/", "/playground": self = .start
        case "/playground/": self = .page
        case "/playground/page.css": self = .style
        case "/playground/page.js": self = .script
        case "/playground/sign": self = .sign
        case "/playground/upload": self = .upload
        default:
            if path.hasPrefix("/playground/image/") {
                self = .image(String(target.dropFirst("/playground/image".count)))
            } else if path.hasPrefix("/playground/info/") {
                self = .info(String(target.dropFirst("/playground/info".count)))
            } else {
                return nil
            }
        }
    }

    var isPost: Bool { self == .sign || self == .upload }
}

extension ImageServer {
    /// Answers a request for the page, or from the page.
    func page(
        _ route: PageRoute, _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        guard route.isPost == (request.method == "POST") else {
            throw Failure(.methodNotAllowed, "\(request.method) is not what this path takes")
        }
        switch route {
        case .start:
            return ServerAnswer(
                status: 303,
                fields: ["Location": prefix + PageRoute.folder, "Cache-Control": "no-store"],
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
            let plan = try plan(target, request)
            return try await picture(plan, request, &notes, from: .uploads).unstored
        case .info(let target):
            return try await info(target, request, &notes, from: .uploads).unstored
        }
    }

    private func document(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let token = PageToken(for: request)
        var document = PageDocument(fields: PageFields(target: request.target), token: token.text)
        document.isPublic = !configuration.isLoopbackOnly
        document.hasWatermark = watermark != nil
        document.samples = try await samples()
        if let source = document.fields.source {
            do throws(Failure) {
                document.urls = try pageURLs(
                    document.fields, source: source, address: try address(of: request))
            } catch {
                document.failure = error.told(advising: isUnsigned)
            }
        }
        document.exampleURL = { fields in
            // Examples that are not allowed are left out.
            fields.source.flatMap { source in
                try? self.picturePath(fields, source: source)
            }
        }
        return ServerAnswer(
            status: 200,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
                "Content-Security-Policy": PageDocument.securityPolicy,
                "Set-Cookie": token.cookieField(path: prefix + PageRoute.folder),
            ], body: ByteBuffer(string: document.html))
    }

    private func asset(_ asset: PageAsset, _ request: ServerRequest) -> ServerAnswer {
        var fields: HTTPFields = ["ETag": asset.tag, "Cache-Control": "no-cache"]
        guard !conditions(of: request).isMet(tag: asset.tag, lastModified: nil) else {
            return ServerAnswer(status: 304, fields: fields)
        }
        fields.append("Content-Type", asset.mediaType)
        return ServerAnswer(status: 200, fields: fields, body: ByteBuffer(bytes: asset.bytes))
    }

    private func signed(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let timer = startTimer(request)
        defer { timer.cancel() }
        let body = try await request.body(16 << 10)
        let fields = PageFields(form: String(buffer: body))
        guard let source = fields.source else { throw Failure(.invalidPath, "There is no source") }
        let address = try address(of: request)
        do throws(Failure) {
            var urls = try pageURLs(fields, source: source, address: address)
            request.watch()
            // Without the source's header there is no such URL; the picture tells the reason.
            urls.iiif = try? await iiifURL(fields, source: source, address: address, request)
            return try Self.json(urls)
        } catch {
            // Faults of the form are told in full: they are shown only to its sender.
            let body = ErrorBody(
                error.told(advising: isUnsigned), detail: .full, accept: ["application/json"],
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
        let timer = startTimer(request)
        defer { timer.cancel() }
        let body = try await request.body(configuration.limits.maxSourceBytes)
        return try Self.json(["source": try uploads.keep(Data(buffer: body))])
    }

    /// Returns the part of pictures' URLs before their paths.
    private func address(of request: ServerRequest) throws(Failure) -> String {
        try Failure.ofPlan { () throws(PlanError) in
            try PublicAddress.base(
                configured: configuration.publicURL, forwarded: request.forwarded,
                host: request.fields.values("Host"))
                + (configuration.publicURL == nil ? prefix : "")
        }
    }

    /// Returns local sources as samples; none unless only this machine can connect.
    private func samples() async throws(Failure) -> [String] {
        guard configuration.isLoopbackOnly, let local = sources.local else { return [] }
        let names = await local.names(extensions: configuration.iiif.extensions + ["jxl", "svg"])
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
