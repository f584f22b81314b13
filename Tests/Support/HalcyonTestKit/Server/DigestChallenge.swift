import Foundation
import HalcyonWork

/// The hash of `Digest` authentication (RFC 7616).
public enum DigestAlgorithm: String, CaseIterable, Sendable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    /// The hash of `text` in lower-case hexadecimal.
    func hash(_ text: String) -> String {
        switch self {
        case .md5: Digest.md5.hexadecimal(text)
        case .sha256: Digest.sha256.hexadecimal(text)
        }
    }
}

/// One challenge of `Digest` authentication and how an answer to it is checked.
struct DigestChallenge: Sendable {
    var credentials: Credentials
    var realm: String
    var algorithm: DigestAlgorithm
    var nonce: String

    /// The value of `WWW-Authenticate`.
    var header: String {
        "Digest realm=\"\(realm)\", qop=\"auth\", algorithm=\(algorithm.rawValue), nonce=\"\(nonce)\""
    }

    /// Whether the value of `Authorization` proves to know the password (RFC 7616, section 3.4).
    func accepts(_ authorization: String, method: String, target: String) -> Bool {
        guard authorization.lowercased().hasPrefix("digest ") else { return false }
        let fields = Self.parameters(authorization.dropFirst("digest ".count))
        guard fields["username"] == credentials.user, fields["realm"] == realm,
            fields["nonce"] == nonce, fields["uri"] == target, fields["qop"] == "auth",
            (fields["algorithm"] ?? "MD5") == algorithm.rawValue,
            let count = fields["nc"], let clientNonce = fields["cnonce"],
            let response = fields["response"]
        else { return false }
        let user = algorithm.hash("\(credentials.user):\(realm):\(credentials.password)")
        let message = algorithm.hash("\(method):\(target)")
        let expected = algorithm.hash("\(user):\(nonce):\(count):\(clientNonce):auth:\(message)")
        return response == expected
    }

    /// The `name=value` pairs of a header field; values may be quoted and then contain commas.
    static func parameters(_ text: some StringProtocol) -> [String: String] {
        let pairs = String(text).matches(of: #/(\w+)=(?:"((?:\\.|[^"\\])*)"|([^\s,]*))/#)
        return pairs.reduce(into: [:]) { fields, pair in
            let value = String(pair.output.2 ?? pair.output.3 ?? "")
            fields[pair.output.1.lowercased()] = value.replacing(#/\\(.)/#) { $0.output.1 }
        }
    }
}
