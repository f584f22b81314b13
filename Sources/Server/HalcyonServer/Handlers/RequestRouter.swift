import HalcyonHTTP
import HalcyonServerURLs

struct RequestRouter: Sendable {
    /// The prefix of all public paths, with a slash before it and none behind.
    let prefix: String
    let maxURLLength: Int
    let secret: String?
    let fields: CommonFields
    let urls: URLReader
    let processing: ProcessingHandler
    let info: InfoHandler
    /// `nil` unless the IIIF Image API is on.
    let iiif: IIIFHandler?
    /// `nil` without the page.
    let page: PageHandler?
    let health: HealthHandler
    /// Answers requests to operate the server through an embedding application.
    var operations: OperationsHandler?

    func answer(
        _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        try check(request)
        let routes = request.routes
        if request.asksForHealth, let answer = health.answer(request) {
            notes.isQuiet = true
            return answer
        }
        if routes.contains(.operations), let answer = await operations?.answer(request) {
            notes.isQuiet = true
            return answer
        }
        let isBelow = request.path.hasPrefix(prefix)
        let rest = isBelow ? String(request.target.dropFirst(prefix.count)) : ""
        let pageRoute = routes.contains(.page) ? PageRoute(target: rest) : nil
        let pathOfIIIF = routes.contains(.iiif) ? iiif?.path(of: rest) : nil
        if pathOfIIIF != nil { notes.route = "iiif" }
        switch request.method {
        case "GET", "HEAD": break
        // Whether there is a page is asked last: the comparison copies its handler.
        case "POST" where pageRoute?.isPost == true && page != nil: break
        case "OPTIONS": return fields.preflight(notes.route)
        default:
            throw Failure(.methodNotAllowed, "\(request.method) is not one of GET, HEAD, OPTIONS")
        }
        if let length = request.fields.first("Content-Length"), length != "0",
            request.fields.contains("Expect")
        {
            throw Failure(.expectationFailed, "Requests for pictures have no body")
        }
        guard rest.first == "/" else { throw Failure.nothingThere }
        if let secret, !request.bears(secret) {
            throw Failure(.forbidden, "The bearer token is missing or wrong")
        }
        if let pageRoute, let page { return try await page.answer(pageRoute, request, &notes) }
        if routes.contains(.info), rest.hasPrefix("/info/") {
            notes.route = "info"
            return try await info.answer(String(rest.dropFirst(5)), request, &notes)
        }
        if let pathOfIIIF, let iiif { return try await iiif.answer(pathOfIIIF, request, &notes) }
        guard routes.contains(.processing) else { throw Failure.nothingThere }
        notes.route = "processing"
        let known = try urls.plan(rest, for: request)
        var request = request
        request.followsHints = known.followsHints
        return try await processing.answer(known.plan, request, &notes)
    }

    private func check(_ request: ServerRequest) throws(Failure) {
        let target = request.target
        guard target.utf8.count <= maxURLLength else {
            throw Failure(.urlTooLong, "The URL has more than \(maxURLLength) bytes")
        }
        // The target of CONNECT is not a path.
        guard request.method != "CONNECT" else {
            throw Failure(.methodNotAllowed, "Tunnels are not made here")
        }
        guard target.utf8.first == UInt8(ascii: "/"),
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Failure(.badRequest, "The request target must be an ASCII path") }
    }
}
