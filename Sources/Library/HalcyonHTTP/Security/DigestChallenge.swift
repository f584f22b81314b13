import Foundation
import HalcyonWork

/// A server's demand for `Digest` authentication (RFC 7616) and the answer to it.
package struct DigestChallenge: Sendable {
    /// The hash that the server asks for; a later one is stronger.
    package enum Algorithm: String, Comparable {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        package static func < (lhs: Algorithm, rhs: Algorithm) -> Bool {
            lhs == .md5 && rhs == .sha256
        }

        /// The hash of `text` in lower-case hexadecimal.
        func hash(_ text: String) -> String {
            switch self {
            case .md5: Digest.md5.hexadecimal(text)
            case .sha256: Digest.sha256.hexadecimal(text)
            }
        }
    }

    package let realm: String
    let nonce: String
    package let algorithm: Algorithm
    let opaque: String?
    /// Whether the last answer was refused only because its nonce is too old.
    package let isStale: Bool
    private let hashesUserName: Bool

    /// `nil` for a challenge of another scheme, without what the scheme needs, or for a quality of
    /// protection other than `auth`.
    package init?(_ challenge: HTTPChallenge) {
        let parameters = challenge.parameters
        let name = parameters["algorithm"]?.uppercased() ?? Algorithm.md5.rawValue
        let protections = (parameters["qop"] ?? "").lowercased().fieldMembers
        guard challenge.scheme == "digest", let nonce = parameters["nonce"],
            let algorithm = Algorithm(rawValue: name), protections.contains("auth")
        else { return nil }
        self.nonce = nonce
        self.algorithm = algorithm
        realm = parameters["realm"] ?? ""
        opaque = parameters["opaque"]
        isStale = parameters["stale"]?.lowercased() == "true"
        hashesUserName = parameters["userhash"]?.lowercased() == "true"
    }

    /// The value of `Authorization` (RFC 7616, section 3.4).
    ///
    /// - Parameters:
    ///   - target: Path and query as they are sent.
    ///   - count: How many answers use this nonce, with this one.
    ///   - clientNonce: Must not have been used with this nonce before.
    package func answer(
        user: String, password: String, method: String, target: String, count: Int,
        clientNonce: String
    ) -> String {
        let hex = String(count, radix: 16)
        let count = String(repeating: "0", count: max(0, 8 - hex.count)) + hex
        let secret = algorithm.hash("\(user):\(realm):\(password)")
        let message = algorithm.hash("\(method):\(target)")
        let response = algorithm.hash("\(secret):\(nonce):\(count):\(clientNonce):auth:\(message)")
        let name = hashesUserName ? algorithm.hash("\(user):\(realm)") : user
        var fields = [
            "username=\(Self.quoted(name))", "realm=\(Self.quoted(realm))",
            "uri=\(Self.quoted(target))", "algorithm=\(algorithm.rawValue)",
            "nonce=\(Self.quoted(nonce))", "nc=\(count)", "cnonce=\(Self.quoted(clientNonce))",
            "qop=auth", "response=\(Self.quoted(response))",
        ]
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        if hashesUserName { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
