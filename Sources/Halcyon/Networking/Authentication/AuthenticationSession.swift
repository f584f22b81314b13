import Foundation
import FoundationNetworking

/// The credentials that an origin has asked for, and how they are sent.
struct AuthenticationSession {
    enum Scheme {
        case basic
        /// With the number of answers that have used the nonce.
        case digest(DigestChallenge, count: Int)
    }

    let origin: Origin
    let credential: URLCredential
    var scheme: Scheme

    /// The value of `Authorization` for a request.
    mutating func authorize(_ request: URLRequest, _ url: URL) -> String {
        let user = credential.user ?? ""
        let password = credential.password ?? ""
        switch scheme {
        case .basic:
            return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .digest(let challenge, let count):
            scheme = .digest(challenge, count: count + 1)
            return challenge.answer(
                user: user, password: password, method: request.httpMethod ?? "GET",
                target: url.requestTarget, count: count + 1,
                clientNonce: DigestChallenge.makeClientNonce())
        }
    }
}

extension URL {
    /// Path and query as they are sent in a request (RFC 9112, section 3.2.1).
    fileprivate var requestTarget: String {
        let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        return (path.isEmpty ? "/" : path)
            + (components?.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
}
