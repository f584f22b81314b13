import Foundation
import FoundationNetworking
import HalcyonWork
import Synchronization

/// Answers the challenges of one transfer, and signs its later requests to the same origin.
final class Authenticator: Sendable {
    /// The maximum number of answered challenges; after that the status 401 stands.
    private static let answerLimit = 5

    fileprivate struct State {
        var session: AuthenticationSession?
        var answers = 0
        /// The number of answers given for each space, none of them final.
        var failures: [ProtectionSpace: Int] = [:]
    }

    private let downloader: ImageDownloader
    private let task: SessionDataTask
    private let state = Mutex(State())

    init(downloader: ImageDownloader, task: SessionDataTask) {
        self.downloader = downloader
        self.task = task
    }

    /// `request` with credentials, if its origin has accepted or asked for some.
    func authorized(_ request: URLRequest) -> URLRequest {
        let header: String? = state.withLock { state -> String? in
            guard let url = request.url, state.session?.origin == Origin(url) else { return nil }
            return state.session?.authorize(request, url)
        }
        guard let header else { return request }
        var request = request
        request.setValue(header, forHTTPHeaderField: "Authorization")
        return request
    }

    /// Whether `request`, which `response` refuses with status 401, is to be sent again with (other)
    /// credentials.
    /// - Throws: `ImageTransportError.authenticationCancelled`.
    func answers(_ response: HTTPURLResponse, to request: URLRequest) async throws -> Bool {
        guard let url = request.url,
            let field = response.value(forHTTPHeaderField: "WWW-Authenticate"),
            let responder = downloader.authenticationChallengeResponder
        else { return false }
        let demands = AuthenticationDemand.all(in: HTTPChallenge.parse(field))
        guard !demands.isEmpty, state.withLock({ $0.countAnswer(Self.answerLimit) }) else {
            return false
        }
        if state.withLock({ $0.renewed(by: demands, from: Origin(url)) }) { return true }

        for demand in demands {
            let space = demand.space(of: Origin(url))
            let failures = state.withLock { $0.failures[space, default: 0] }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(space), proposedCredential: nil,
                previousFailureCount: failures,
                failureResponse: response, error: nil, sender: InertChallengeSender())
            let (disposition, credential) = await responder.downloader(
                downloader, task: task, didReceive: challenge)
            switch disposition {
            case .rejectProtectionSpace:
                continue
            case .cancelAuthenticationChallenge:
                throw ImageTransportError.authenticationCancelled(url: url.absoluteString)
            case .useCredential:
                guard let credential, demand.canUse(credential) else { return false }
                state.withLock {
                    // If it fails there will be another challenge.
                    $0.failures[space] = failures + 1
                    $0.session = AuthenticationSession(
                        origin: Origin(url), credential: credential, demand: demand)
                }
                return true
            default:
                return false
            }
        }
        return false
    }
}

extension Authenticator.State {
    fileprivate mutating func countAnswer(_ limit: Int) -> Bool {
        answers += 1
        return answers <= limit
    }

    /// Continues with a new nonce if only the old one was refused.
    fileprivate mutating func renewed(by demands: [AuthenticationDemand], from origin: Origin)
        -> Bool
    {
        guard session?.origin == origin, case .digest(let old) = session?.demand else {
            return false
        }
        for case .digest(let new) in demands
        where new.isStale && new.realm == old.realm && new.algorithm == old.algorithm {
            session?.demand = .digest(new)
            session?.count = 0
            return true
        }
        return false
    }
}

/// The sender that `URLAuthenticationChallenge` requires; unused, since responders return their
/// answer.
private final class InertChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

/// The credentials for an origin, with the challenge that they answer.
struct AuthenticationSession {
    let origin: Origin
    let credential: URLCredential
    var demand: AuthenticationDemand
    /// The number of requests that have used the nonce of a digest.
    var count = 0

    /// The value of `Authorization` for a request.
    mutating func authorize(_ request: URLRequest, _ url: URL) -> String {
        let user = credential.user ?? ""
        let password = credential.password ?? ""
        switch demand {
        case .basic:
            return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .digest(let challenge):
            count += 1
            return challenge.answer(
                user: user, password: password, method: request.httpMethod ?? "GET",
                target: url.requestTarget, count: count, clientNonce: .randomHexadecimal())
        }
    }
}

extension URL {
    /// The path and query of a request (RFC 9112, section 3.2.1).
    fileprivate var requestTarget: String {
        let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        return (path.isEmpty ? "/" : path)
            + (components?.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
}

enum AuthenticationDemand {
    case basic(realm: String)
    case digest(DigestChallenge)

    /// The supported challenges among `challenges`, the most secure first.
    static func all(in challenges: [HTTPChallenge]) -> [AuthenticationDemand] {
        let digests = challenges.compactMap(DigestChallenge.init)
            .sorted { $0.algorithm > $1.algorithm }
        let basics = challenges.filter { $0.scheme == "basic" }
        return digests.map { .digest($0) }
            + basics.map { .basic(realm: $0.parameters["realm"] ?? "") }
    }

    func space(of origin: Origin) -> ProtectionSpace {
        let (realm, method) =
            switch self {
            case .basic(let realm): (realm, NSURLAuthenticationMethodHTTPBasic)
            case .digest(let challenge): (challenge.realm, NSURLAuthenticationMethodHTTPDigest)
            }
        return ProtectionSpace(origin: origin, realm: realm, method: method)
    }

    /// Whether user and password are set and the scheme can transmit them.
    func canUse(_ credential: URLCredential) -> Bool {
        guard let user = credential.user, credential.password != nil else { return false }
        // RFC 7617, section 2: a colon ends the name.
        if case .basic = self { return !user.contains(":") }
        return true
    }
}

/// The scope of credentials. `URLProtectionSpace` does not compare by value on Linux.
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
