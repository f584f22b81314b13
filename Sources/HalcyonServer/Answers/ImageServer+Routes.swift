import HalcyonHTTP
import HalcyonServerPlans
import HalcyonWork
import Logging
import Tracing

extension ImageServer {
    /// Answers a request to one of the public addresses.
    @Sendable func answer(_ request: ServerRequest) async -> ServerAnswer {
        await answer(request) { (request, notes) async throws(Failure) in
            try await route(request, &notes)
        }
    }

    /// Answers a request with what `work` returns or throws.
    func answer(
        _ request: ServerRequest,
        with work: (ServerRequest, inout AnswerNotes) async throws(Failure) -> ServerAnswer
    ) async -> ServerAnswer {
        let request = request.believing(configuration.trustedProxies)
        guard let span = beginSpan(of: request) else { return await made(request, with: work) }
        let answer = await ServiceContext.$current.withValue(span.context) {
            await made(request, with: work)
        }
        end(span, with: answer)
        return answer
    }

    private func made(
        _ request: ServerRequest,
        with work: (ServerRequest, inout AnswerNotes) async throws(Failure) -> ServerAnswer
    ) async -> ServerAnswer {
        let end = begin(request.ending)
        defer {
            end()
            // Lets go of what waits for the end of this request, and of the pictures that that holds.
            request.ending.give(.clientGone)
        }
        var notes = AnswerNotes()
        var answer: ServerAnswer
        do throws(Failure) {
            answer = try await work(request, &notes)
        } catch {
            notes.failure = error
            answer = errorAnswer(error, to: request)
        }
        answer.notes = notes
        complete(&answer, for: request)
        note(answer, to: request)
        return answer
    }

    func route(
        _ request: ServerRequest, _ notes: inout AnswerNotes
    ) async throws(Failure) -> ServerAnswer {
        let target = request.target
        guard target.utf8.count <= configuration.limits.maxURLLength else {
            throw Failure(
                .urlTooLong, "The URL has more than \(configuration.limits.maxURLLength) bytes")
        }
        guard target.utf8.first == UInt8(ascii: "/"),
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Failure(.badRequest, "The target of the request is no path in ASCII") }
        let path = target.prefix { $0 != "?" }
        let routes = request.routes
        if asksForHealth(request), let health = health(path, request) {
            notes.isQuiet = true
            return health
        }
        let pageRoute =
            hasPlayground && routes.contains(.page) && path.hasPrefix(prefix)
            ? PageRoute(target: String(target.dropFirst(prefix.count))) : nil
        switch request.method {
        case "GET", "HEAD": break
        case "POST" where pageRoute?.isPost == true: break
        case "OPTIONS": return preflight(request)
        default:
            throw Failure(.methodNotAllowed, "\(request.method) is not one of GET, HEAD, OPTIONS")
        }
        if let length = request.fields.first("Content-Length"), length != "0",
            request.fields.contains("Expect")
        {
            throw Failure(.expectationFailed, "Requests for pictures have no body")
        }
        guard path.hasPrefix(prefix), path.dropFirst(prefix.count).first == "/" else {
            throw Failure(.notFound, "There is nothing at this path")
        }
        try checkSecret(request)
        let rest = String(target.dropFirst(prefix.count))
        if let pageRoute {
            try checkHost(request)
            notes.route = "page"
            return try await page(pageRoute, request, &notes)
        }
        if routes.contains(.info), rest.hasPrefix("/info/") {
            notes.route = "info"
            return try await info(String(rest.dropFirst(5)), request, &notes)
        }
        if routes.contains(.iiif), let iiif, let path = iiif.path(of: rest) {
            notes.route = "iiif"
            return try await answer(iiif, path, request, &notes)
        }
        guard routes.contains(.processing) else {
            throw Failure(.notFound, "There is nothing at this path")
        }
        notes.route = "processing"
        return try await picture(try plan(rest, request), request, &notes)
    }

    /// A page of somebody else whose name has come to lead to this machine must not get at what the page here
    /// shows and signs: browsers take the two for the same.
    private func checkHost(_ request: ServerRequest) throws(Failure) {
        guard configuration.isLoopbackOnly, configuration.publicURL == nil,
            configuration.trustedProxies.isEmpty, request.peer != nil
        else { return }
        let host = request.fields.first("Host") ?? ""
        let name =
            host.hasPrefix("[") ? host.prefix { $0 != "]" }.dropFirst() : host.prefix { $0 != ":" }
        guard
            name == "localhost" || name == "::1"
                || name.hasPrefix("127.") && IPAddress(String(name)) != nil
        else { throw Failure(.forbidden, "The host of the request is not this machine") }
    }

    private func checkSecret(_ request: ServerRequest) throws(Failure) {
        guard let secret = configuration.secret else { return }
        let given = request.fields.first("Authorization") ?? ""
        guard PathSigner.areEqual(Array(given.utf8), Array("Bearer \(secret)".utf8)) else {
            throw Failure(.forbidden, "The bearer token is missing or wrong")
        }
    }

    /// What a target asks for, once it has proved that it may.
    func plan(
        _ target: String, _ request: ServerRequest
    ) throws(Failure) -> ImagePlan {
        try plan(target, hints: hints(request))
    }

    private func hints(_ request: ServerRequest) -> ClientHints {
        let negotiation = configuration.negotiation
        guard negotiation.usesClientHints else { return ClientHints() }
        var steps = ClientHints.Steps()
        steps.widths = negotiation.widthSteps
        steps.dprs = negotiation.dprSteps
        return ClientHints(steps: steps, values: request.fields.values)
    }

    func plan(_ target: String, hints: ClientHints) throws(Failure) -> ImagePlan {
        if !configuration.signature.isRequired, target.hasPrefix("/-/") {
            return try Failure.ofPlan { () throws(PlanError) in
                try parser.parse(
                    shortForm: String(target.dropFirst(3)), hints: hints, note: noteOddity)
            }
        }
        let signed = try verified(target)
        return try Failure.ofPlan { () throws(PlanError) in
            try parser.parse(path: signed.path, hints: hints, note: noteOddity)
        }
    }

    /// The path of a target, once its signature has proved to be right.
    func verified(_ target: String) throws(Failure) -> SignedPath {
        try Failure.ofPlan { () throws(PlanError) in
            let signed = try SignedPath(target: target)
            guard configuration.signature.isRequired else {
                guard !signed.signature.contains(":") else {
                    throw PlanError(
                        .forbidden, "The path begins with an option; the part before it is missing."
                    )
                }
                return signed
            }
            guard let match = signer.verify(signature: signed.signature, path: signed.path) else {
                throw PlanError(.forbidden, "The signature is not right.")
            }
            metrics.signatures.add([match.label])
            return signed
        }
    }

    private func noteOddity(_ text: String) { logger.debug("\(text)") }

    private func preflight(_ request: ServerRequest) -> ServerAnswer {
        var fields: HTTPFields = ["Allow": Self.methods, "Cache-Control": "no-store"]
        if !configuration.http.allowOrigin.isEmpty {
            fields.append("Access-Control-Allow-Methods", Self.methods)
            fields.append("Access-Control-Allow-Headers", "Authorization")
            fields.append("Access-Control-Max-Age", "86400")
        }
        return ServerAnswer(status: 204, fields: fields)
    }

    /// The methods that pictures have.
    static let methods = "GET, HEAD, OPTIONS"
}

extension PathSigner.Match {
    /// For metrics.
    fileprivate var label: String {
        switch self {
        case .pair(let index): "\(index)"
        case .trusted: "trusted"
        }
    }
}
