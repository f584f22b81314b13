import Foundation
import FoundationNetworking

/// A challenge in a scheme that can be answered.
enum AuthenticationDemand {
    case basic(realm: String)
    case digest(DigestChallenge)

    /// The demands among `challenges` that can be answered, the most secure first.
    static func all(in challenges: [HTTPChallenge]) -> [AuthenticationDemand] {
        let digests = challenges.compactMap(DigestChallenge.init)
            .sorted { $0.algorithm > $1.algorithm }
        let basics = challenges.filter { $0.scheme == "basic" }
        return digests.map { .digest($0) }
            + basics.map { .basic(realm: $0.parameters["realm"] ?? "") }
    }

    /// What the credentials are for.
    func space(of origin: Origin) -> ProtectionSpace {
        switch self {
        case .basic(let realm):
            ProtectionSpace(
                origin: origin, realm: realm, method: NSURLAuthenticationMethodHTTPBasic)
        case .digest(let challenge):
            ProtectionSpace(
                origin: origin, realm: challenge.realm, method: NSURLAuthenticationMethodHTTPDigest)
        }
    }

    var scheme: AuthenticationSession.Scheme {
        switch self {
        case .basic: .basic
        case .digest(let challenge): .digest(challenge, count: 0)
        }
    }

    /// Whether user and password are there and the scheme can transmit them.
    func canUse(_ credential: URLCredential) -> Bool {
        guard let user = credential.user, credential.password != nil else { return false }
        // RFC 7617, section 2: a colon ends the name.
        if case .basic = self { return !user.contains(":") }
        return true
    }
}

/// What credentials are for. `URLProtectionSpace` does not compare by value on Linux.
struct ProtectionSpace: Hashable {
    let origin: Origin
    let realm: String
    let method: String
}

extension URLProtectionSpace {
    convenience init(_ space: ProtectionSpace) {
        self.init(
            host: space.origin.host ?? "", port: space.origin.port, protocol: space.origin.scheme,
            realm: space.realm, authenticationMethod: space.method)
    }
}
