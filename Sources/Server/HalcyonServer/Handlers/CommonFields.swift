import HalcyonHTTP
import HalcyonWork

struct CommonFields: Sendable {
    /// The request fields forwarded to sources that tell those apart.
    let forwarded: [String]
    let isPrivate: Bool
    let allowedOrigins: [String]
    let time: TimeSource

    func complete(_ answer: inout ServerAnswer, for request: ServerRequest) {
        answer.fields.append("X-Request-ID", request.id)
        if let times = answer.fields.first("Server-Timing") {
            let total = (time.now - request.start).milliseconds
            let parts = times.isEmpty ? [] : [times]
            answer.fields.set(
                "Server-Timing", to: (parts + ["total;dur=\(total)"]).joined(separator: ", "))
        }
        noteForwarding(in: &answer, to: request)
        // A cache in front would hand it to clients without the token (RFC 9111, section 3.5).
        if isPrivate { answer.makePrivate() }
        answer.fields.append("X-Content-Type-Options", "nosniff")
        answer.fields.append("Referrer-Policy", "no-referrer")
        if !answer.fields.contains("Content-Security-Policy") {
            answer.fields.append(
                "Content-Security-Policy",
                "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'")
        }
        addOrigin(to: &answer, for: request)
    }

    /// Adds the request fields forwarded to sources to `Vary`; a response to a request that has
    /// such a field becomes private.
    private func noteForwarding(in answer: inout ServerAnswer, to request: ServerRequest) {
        let routes = ["processing", "info", "iiif", "iiif_info"]
        guard !forwarded.isEmpty, routes.contains(answer.notes.route) else { return }
        let vary = (answer.fields.first("Vary").map { [$0] } ?? []) + forwarded
        answer.fields.set("Vary", to: vary.joined(separator: ", "))
        // Caches on the way may not know fields of this kind, and share what is public.
        if forwarded.contains(where: request.fields.contains) { answer.makePrivate() }
    }

    /// Returns the answer to a browser's question whether a page may ask.
    func preflight(_ route: String) -> ServerAnswer {
        var fields: HTTPFields = ["Allow": ServerAnswer.methods, "Cache-Control": "no-store"]
        if !origins(of: route).isEmpty {
            fields.append("Access-Control-Allow-Methods", ServerAnswer.methods)
            fields.append("Access-Control-Allow-Headers", "Authorization")
            fields.append("Access-Control-Max-Age", "86400")
        }
        return ServerAnswer(status: 204, fields: fields)
    }

    /// Returns the origins whose pages may read the responses of a route: of IIIF, all by default.
    private func origins(of route: String) -> [String] {
        let isIIIF = route == "iiif" || route == "iiif_info"
        return allowedOrigins.isEmpty && isIIIF ? ["*"] : allowedOrigins
    }

    private func addOrigin(to answer: inout ServerAnswer, for request: ServerRequest) {
        let allowed = origins(of: answer.notes.route)
        guard !allowed.isEmpty else { return }
        if allowed == ["*"] {
            answer.fields.append("Access-Control-Allow-Origin", "*")
        } else {
            let vary = answer.fields.first("Vary").map { $0 + ", Origin" } ?? "Origin"
            answer.fields.set("Vary", to: vary)
            guard let origin = request.fields.first("Origin"), allowed.contains(origin) else {
                return
            }
            answer.fields.append("Access-Control-Allow-Origin", origin)
        }
        answer.fields.append("Timing-Allow-Origin", "*")
        answer.fields.append(
            "Access-Control-Expose-Headers",
            "Content-Length, ETag, Link, Server-Timing, Cache-Status")
    }
}

extension ServerAnswer {
    /// Keeps caches that serve several clients from storing it.
    fileprivate mutating func makePrivate() {
        guard let caching = fields.first("Cache-Control") else { return }
        let directives = caching.split(separator: ", ").filter {
            $0 != "public" && $0 != "private" && !$0.hasPrefix("s-maxage=")
        }
        guard !directives.contains("no-store") else { return }
        fields.set("Cache-Control", to: (["private"] + directives).joined(separator: ", "))
    }
}
