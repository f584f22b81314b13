import Foundation
import FoundationNetworking
import Synchronization

/// Answers the challenges of one transfer, and signs its later requests to the same origin.
final class Authenticator: Sendable {
    /// Challenges that are answered at most; then the status 401 stands.
    private static let answerLimit = 5

    fileprivate struct State {
        var session: AuthenticationSession?
        var answers = 0
        /// Answers given to each, none of which has been final.
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

    /// Whether `request`, which `response` refuses, is to be sent again with (other) credentials.
    /// - Throws: `ImageTransportError.authenticationCancelled`.
    func answers(_ response: HTTPURLResponse, to request: URLRequest) async throws -> Bool {
        guard response.statusCode == 401, let url = request.url,
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
                        origin: Origin(url), credential: credential, scheme: demand.scheme)
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

    /// Goes on with a new nonce if only the old one was refused.
    fileprivate mutating func renewed(by demands: [AuthenticationDemand], from origin: Origin)
        -> Bool
    {
        guard session?.origin == origin, case .digest(let old, _) = session?.scheme else {
            return false
        }
        for case .digest(let new) in demands
        where new.isStale && new.realm == old.realm && new.algorithm == old.algorithm {
            session?.scheme = .digest(new, count: 0)
            return true
        }
        return false
    }
}

/// What `URLAuthenticationChallenge` has to have; responders answer by what they return.
private final class InertChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
