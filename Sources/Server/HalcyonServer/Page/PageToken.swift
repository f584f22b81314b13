import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// The proof that a request to sign or to upload comes from the page: a random text in a cookie
/// that scripts cannot read and other sites' requests do not carry, and again in a header field.
struct PageToken: Sendable, Hashable {
    let text: String

    private static let cookie = "halcyon-page"
    private static let field = "X-Page-Token"

    /// Takes the token of the client's cookie, or makes a new one.
    init(for request: ServerRequest) { text = Self.cookie(of: request) ?? .randomHexadecimal() }

    func cookieField(path: String) -> String {
        "\(Self.cookie)=\(text); Path=\(path); HttpOnly; SameSite=Strict"
    }

    /// - Throws: `forbidden` unless the request comes from the page.
    static func check(_ request: ServerRequest) throws(Failure) {
        guard let cookie = cookie(of: request), let given = request.fields.first(field),
            PathSigner.areEqual(Array(cookie.utf8), Array(given.utf8)), isOfThePage(request)
        else { throw Failure(.forbidden, "The request does not come from the page") }
    }

    /// By the browser's own fields: unencrypted and from elsewhere, some send only the origin.
    private static func isOfThePage(_ request: ServerRequest) -> Bool {
        if let site = request.fields.first("Sec-Fetch-Site") { return site == "same-origin" }
        guard let origin = request.fields.first("Origin"), let host = request.fields.first("Host")
        else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    private static func cookie(of request: ServerRequest) -> String? {
        for pair in request.fields.values("Cookie").flatMap({ $0.split(separator: ";") }) {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookie else { continue }
            let isToken = parts[1].utf8.count == 32 && parts[1].allSatisfy(\.isHexDigit)
            if isToken { return String(parts[1]) }
        }
        return nil
    }
}
