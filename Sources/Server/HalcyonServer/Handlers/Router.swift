import HalcyonHTTP
import HalcyonServerURLs
import HalcyonStorage
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
            // Releases what waits for the end of this request, and the pictures held by that.
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

    /// Answers a request that could not be parsed.
    @Sendable func refusal(_ failure: Failure, peer: String?) -> ServerAnswer {
        let request = ServerRequest(
            method: "", target: "", fields: [:], peer: peer, start: time.now)
        var answer = errorAnswer(failure, to: request)
        answer.notes.failure = failure
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
        // The target of CONNECT is not a path.
        guard request.method != "CONNECT" else {
            throw Failure(.methodNotAllowed, "Tunnels are not made here")
        }
        guard target.utf8.first == UInt8(ascii: "/"),
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Failure(.badRequest, "The request target must be an ASCII path") }
        let path = request.path
        let routes = request.routes
        let rest = path.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : ""
        if asksForHealth(request), let health = health(path, request) {
            notes.isQuiet = true
            return health
        }
        if routes.contains(.operations), let answer = await operations(path, request) {
            notes.isQuiet = true
            return answer
        }
        let pageRoute = hasPlayground && routes.contains(.page) ? PageRoute(target: rest) : nil
        let pathOfIIIF = routes.contains(.iiif) ? iiif?.path(of: rest) : nil
        if pathOfIIIF != nil { notes.route = "iiif" }
        switch request.method {
        case "GET", "HEAD": break
        case "POST" where pageRoute?.isPost == true: break
        case "OPTIONS": return preflight(notes.route)
        default:
            throw Failure(.methodNotAllowed, "\(request.method) is not one of GET, HEAD, OPTIONS")
        }
        if let length = request.fields.first("Content-Length"), length != "0",
            request.fields.contains("Expect")
        {
            throw Failure(.expectationFailed, "Requests for pictures have no body")
        }
        guard rest.first == "/" else { throw Failure(.notFound, "There is nothing at this path") }
        if let secret = configuration.secret, !request.bears(secret) {
            throw Failure(.forbidden, "The bearer token is missing or wrong")
        }
        if let pageRoute {
            try checkHost(request)
            notes.route = "page"
            return try await page(pageRoute, request, &notes)
        }
        if routes.contains(.info), rest.hasPrefix("/info/") {
            notes.route = "info"
            return try await info(String(rest.dropFirst(5)), request, &notes)
        }
        if let iiif, let pathOfIIIF { return try await answer(iiif, pathOfIIIF, request, &notes) }
        guard routes.contains(.processing) else {
            throw Failure(.notFound, "There is nothing at this path")
        }
        notes.route = "processing"
        let known = try known(rest, hints: hints(request))
        var request = request
        request.followsHints = known.followsHints
        return try await picture(known.plan, request, &notes)
    }

    /// Rejects foreign host names that resolve to this machine (DNS rebinding): browsers would take
    /// a page from there for the page here, and let it read what that shows and signs.
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

    /// Returns the plan of a target, once its signature is verified.
    func plan(_ target: String, _ request: ServerRequest) throws(Failure) -> ImagePlan {
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
        try known(target, hints: hints).plan
    }

    private func known(_ target: String, hints: ClientHints) throws(Failure) -> KnownPlan {
        let rules = presentURLRules
        // With hints a target means more than one thing.
        let isLasting = hints == ClientHints()
        let known: KnownPlan
        if isLasting, let seen = rules.known.value(forKey: target) {
            known = seen
        } else {
            known = try read(target, hints, by: rules)
            if isLasting, target.utf8.count <= 1024 {
                rules.known.store(value: known, forKey: target)
            }
        }
        noteSignature(known.signedBy)
        return known
    }

    private func read(
        _ target: String, _ hints: ClientHints, by rules: URLRules
    ) throws(Failure) -> KnownPlan {
        if !configuration.signature.isRequired, target.hasPrefix("/-/") {
            return try plan(for: hints, signedBy: nil) { (hints, note) throws(PlanError) in
                try rules.parser.parse(
                    shortForm: String(target.dropFirst(3)), hints: hints, note: note)
            }
        }
        let (signed, signedBy) = try proved(target, by: rules.signer)
        return try plan(for: hints, signedBy: signedBy) { (hints, note) throws(PlanError) in
            try rules.parser.parse(path: signed.path, hints: hints, note: note)
        }
    }

    private func plan(
        for hints: ClientHints, signedBy: String?,
        by parse: (ClientHints, @escaping (String) -> Void) throws(PlanError) -> ImagePlan
    ) throws(Failure) -> KnownPlan {
        let plan = try Failure.ofPlan { () throws(PlanError) in try parse(hints, noteOddity) }
        let negotiation = configuration.negotiation
        var followsHints = false
        if negotiation.usesClientHints, !plan.options.raw {
            // A width that no URL names.
            let others = [ClientHints(width: 7919, dpr: negotiation.dprSteps.max()), ClientHints()]
            // What can be read for some hints only depends on them, too.
            let plans = others.map { try? parse($0, { _ in }) }
            followsHints = plans[0] != plans[1]
        }
        return KnownPlan(plan: plan, signedBy: signedBy, followsHints: followsHints)
    }

    /// Returns the path of a target, once its signature is verified.
    func verified(_ target: String) throws(Failure) -> SignedPath {
        let (signed, signedBy) = try proved(target, by: signer)
        noteSignature(signedBy)
        return signed
    }

    private func noteSignature(_ signedBy: String?) {
        if let signedBy { metrics.signatures.add([signedBy]) }
    }

    /// - Returns: The path, and the label of the signing key; `nil` where no signature is required.
    private func proved(
        _ target: String, by signer: PathSigner
    ) throws(Failure) -> (SignedPath, String?) {
        try Failure.ofPlan { () throws(PlanError) in
            let signed = try SignedPath(target: target)
            guard configuration.signature.isRequired else {
                guard !signed.signature.contains(":") else {
                    throw PlanError(
                        .forbidden, "The path begins with an option; the part before it is missing."
                    )
                }
                return (signed, nil)
            }
            guard let match = signer.verify(signature: signed.signature, path: signed.path) else {
                // The short form exists only where no signature is required.
                throw signed.signature == "-"
                    ? PlanError(.invalidPath, "There is no short form here.")
                    : PlanError(.forbidden, "The signature is not right.")
            }
            return (signed, match.label)
        }
    }

    private func noteOddity(_ text: String) { logger.debug("\(text)") }

    private func preflight(_ route: String) -> ServerAnswer {
        var fields: HTTPFields = ["Allow": Self.methods, "Cache-Control": "no-store"]
        if !allowedOrigins(route).isEmpty {
            fields.append("Access-Control-Allow-Methods", Self.methods)
            fields.append("Access-Control-Allow-Headers", "Authorization")
            fields.append("Access-Control-Max-Age", "86400")
        }
        return ServerAnswer(status: 204, fields: fields)
    }

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
