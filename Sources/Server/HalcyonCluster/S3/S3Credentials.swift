import Foundation
import FoundationNetworking
import HalcyonHTTP
package import HalcyonWork
import NIOPosix
import Synchronization

/// Where the keys for a store come from: they were given, or are found where programs for Amazon's services
/// look for them, in this order:
///
/// 1. the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`;
/// 2. the file `AWS_SHARED_CREDENTIALS_FILE`, by default `~/.aws/credentials`, in it the profile `AWS_PROFILE`,
///    by default `default`;
/// 3. the address for credentials of a container: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `…_FULL_URI`, with
///    `AWS_CONTAINER_AUTHORIZATION_TOKEN` or the content of `…_TOKEN_FILE`.
///
/// Keys that were found are looked for again each minute, those that end five minutes before their end; after a
/// search in vain, five seconds later.
///
/// Calls share a search. That is no `WorkTable`: there is one key, and the search goes on when all callers have left.
package final class S3Credentials: Sendable {
    private typealias Search = OneShot<Result<S3Keys, EngineError>>

    private struct State {
        var keys: S3Keys?
        /// Why the last search has found none.
        var failure: EngineError?
        /// Until when they are not looked for again.
        var restsUntil = Date.distantPast
        var search: Search?

        mutating func step(at now: Date) -> Step {
            let good = keys.flatMap { keys in
                keys.expires.map { now < $0 } ?? true ? keys : nil
            }
            if let good, now < restsUntil || search != nil { return .use(good) }
            if let search { return .wait(search) }
            if let failure, now < restsUntil { return .fail(failure) }
            let own = Search()
            search = own
            return .search(own, meanwhile: good)
        }
    }

    private enum Step {
        case use(S3Keys)
        case fail(EngineError)
        case wait(Search)
        case search(Search, meanwhile: S3Keys?)
    }

    /// `nil` for keys that were given.
    private let places: Places?
    private let time: TimeSource
    private let state: Mutex<State>

    package init(_ keys: S3Keys) {
        places = nil
        time = .system
        state = Mutex(State(keys: keys, restsUntil: .distantFuture))
    }

    /// - Parameters:
    ///   - environment: Of the process; also says where everything else is.
    ///   - timeout: How long a container's address may take.
    package init(
        environment: [String: String], timeout: Duration = .seconds(2), time: TimeSource = .system
    ) throws {
        places = try Places(environment, timeout, time)
        self.time = time
        state = Mutex(State())
    }

    /// The keys to sign with now.
    ///
    /// - Parameter deadline: Until when a search is waited for; it goes on for those who come later.
    package func keys(
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(EngineError) -> S3Keys {
        let now = time.date
        let search: Search
        switch state.withLock({ $0.step(at: now) }) {
        case .use(let keys): return keys
        case .fail(let error): throw error
        case .wait(let running): search = running
        case .search(let own, let meanwhile):
            Task { end(own, with: await Result(catching: found), at: now) }
            if let meanwhile { return meanwhile }
            search = own
        }
        guard let deadline else { return try await search.value.get() }
        return try await search.value(
            until: deadline, by: time, on: MultiThreadedEventLoopGroup.singleton.any(),
            else: .failure(EngineError("the keys for the store have not been found in time"))
        ).get()
    }

    /// Has keys that were found looked for again: the store has refused them.
    package func distrust(_ keys: S3Keys) {
        guard places != nil else { return }
        state.withLock { state in
            if state.keys == keys { (state.keys, state.failure) = (nil, nil) }
        }
    }

    private func found() async throws(EngineError) -> S3Keys {
        guard let places else { throw EngineError("there are no keys") }
        return try await places.keys()
    }

    private func end(_ search: Search, with outcome: Result<S3Keys, EngineError>, at now: Date) {
        state.withLock { state in
            state.search = nil
            switch outcome {
            case .success(let keys):
                (state.keys, state.failure) = (keys, nil)
                let next = now.addingTimeInterval(60)
                state.restsUntil =
                    keys.expires.map { max(next, $0.addingTimeInterval(-300)) } ?? next
            case .failure(let error):
                // Those that are good still are used meanwhile.
                state.failure = error
                state.restsUntil = now.addingTimeInterval(5)
            }
        }
        search.give(outcome)
    }
}

private struct Places: Sendable {
    /// Files are read here, not on the threads of tasks.
    private static let files = ThreadPool(name: "credentials", width: 1)
    /// Where a path of a container is.
    private static let containerHost = "http://169.254.170.2"
    /// Hosts that may be asked without TLS, because they are this machine.
    private static let localHosts: Set<String> = [
        "localhost", "127.0.0.1", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23",
    ]

    private let environment: [String: String]
    private let timeout: Duration
    private let time: TimeSource
    private let transport: any HTTPTransport

    init(_ environment: [String: String], _ timeout: Duration, _ time: TimeSource) throws {
        self.environment = environment
        self.timeout = timeout
        self.time = time
        var client = HTTPClientConfiguration()
        client.connectTimeout = timeout.inSeconds
        client.usesEnvironmentProxies = false
        transport = try CurlTransport.shared(for: client)
    }

    func keys() async throws(EngineError) -> S3Keys {
        if let keys = S3Keys(environment: environment) { return keys }
        if let text = await text(ofFile: credentialsFile),
            let keys = S3Keys(file: text, profile: environment["AWS_PROFILE"] ?? "default")
        {
            return keys
        }
        if let url = try containerURL { return try await keys(from: url) }
        throw EngineError(
            "there are no keys in the environment, in \(credentialsFile) or at a container's address"
        )
    }

    private var credentialsFile: String {
        environment["AWS_SHARED_CREDENTIALS_FILE"]
            ?? "\(environment["HOME"] ?? "")/.aws/credentials"
    }

    /// `nil` for one that cannot be read.
    private func text(ofFile path: String) async -> String? {
        await Self.files.run { try? String(contentsOfFile: path, encoding: .utf8) }
    }

    private var containerURL: URL? {
        get throws(EngineError) {
            if let path = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
                return URL(string: Self.containerHost + path)
            }
            guard let text = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
            guard let url = URL(string: text), let host = url.host,
                url.scheme == "https" || url.scheme == "http" && Self.localHosts.contains(host)
            else {
                throw EngineError(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither of https nor of this machine")
            }
            return url
        }
    }

    private func keys(from url: URL) async throws(EngineError) -> S3Keys {
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        var token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        if let file = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            token = await text(ofFile: file)
        }
        if let token = token?.trimmingCharacters(in: .whitespacesAndNewlines), !token.isEmpty {
            request.setValue(token, forHTTPHeaderField: "Authorization")
        }
        let answer: (head: AnswerHead, body: Data)
        do {
            answer = try await transport.answer(
                to: request,
                terms: ExchangeTerms(
                    stall: timeout, deadline: time.systemInstant(of: time.now + timeout)),
                limit: 64 << 10)
        } catch {
            throw EngineError("the container's address for keys has failed: \(error)")
        }
        guard answer.head.status == 200, let keys = S3Keys(containerAnswer: answer.body) else {
            throw EngineError("the container's address for keys has given none")
        }
        return keys
    }
}
