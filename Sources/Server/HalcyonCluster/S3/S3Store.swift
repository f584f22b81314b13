package import Foundation
import FoundationNetworking
import HalcyonHTTP
package import HalcyonWork
import Synchronization

/// Objects in a bucket of a store with the protocol of Amazon S3, by names. If names identify the content,
/// an object never changes but for its generation.
///
/// Each call takes some tenths of a second at most, and throws when the store does not respond.
///
/// Length and SHA-256 of an object are its metadata, so that one request shows whether it is
/// complete; and its generation, if it has one. Nothing else is, because stores limit metadata,
/// Amazon's to 2 KB.
package final class S3Store: Sendable {
    package struct Settings: Sendable {
        /// Scheme, host and, where needed, port and path; the bucket is the next segment.
        package var endpoint: URL
        package var bucket: String
        package var region: String
        package var credentials: S3Credentials
        /// The prefix of all names, segments between slashes; may be empty.
        package var prefix = ""
        package var timeout = Duration.milliseconds(500)
        /// The size limit of objects that are read.
        package var maximumBytes = 100 << 20
        /// Before its first call.
        package var breaker = CircuitBreaker()
        /// The number of concurrent requests; others wait.
        package var width = 32
        /// Called with the reason of a pause, once for each time that the store was working before.
        package var onPause: @Sendable (EngineError) -> Void = { _ in }

        package init(endpoint: URL, bucket: String, region: String, credentials: S3Credentials) {
            self.endpoint = endpoint
            self.bucket = bucket
            self.region = region
            self.credentials = credentials
        }
    }

    private let settings: Settings
    private let transport: any HTTPTransport
    private let time: TimeSource
    private let breaker: Mutex<CircuitBreaker>
    private let gate: HostGate
    private let dayKey = Mutex<S3Signature.DayKey?>(nil)
    /// The URL of the folder of all objects, with a slash at its end.
    private let folder: String

    package init(_ settings: Settings, time: TimeSource = .system) throws {
        self.settings = settings
        self.time = time
        var client = HTTPClientConfiguration()
        client.connectTimeout = settings.timeout.inSeconds
        client.connectionsPerHost = settings.width
        client.usesEnvironmentProxies = false
        transport = try CurlTransport.shared(for: client)
        gate = HostGate(limit: settings.width)
        folder = Self.folder(settings)
        breaker = Mutex(settings.breaker)
    }

    package var breakerState: CircuitBreaker.State { breaker.withLock { $0.state } }

    package func object(_ name: String) async throws(EngineError) -> StoredObject {
        let answer = try await send(request("GET", name))
        switch answer.status {
        case 200: return answer.object.map { .whole($0) } ?? .damaged
        // Without the right to list the bucket, Amazon answers 403 for missing objects.
        case 404, 403: return .missing
        default: throw answer.error
        }
    }

    /// Stores an object; without `replacing`, returns `false` if one of the name exists.
    package func store(
        _ object: SharedObject, as name: String, replacing: Bool = false
    ) async throws(EngineError) -> Bool {
        var request = request("PUT", name)
        request.httpBody = object.body
        request.setValue(object.mediaType, forHTTPHeaderField: "Content-Type")
        if !replacing { request.setValue("*", forHTTPHeaderField: "If-None-Match") }
        request.setValue("\(object.body.count)", forHTTPHeaderField: S3Answer.Field.length)
        request.setValue(
            Digest.sha256.hexadecimal(object.body), forHTTPHeaderField: S3Answer.Field.digest)
        if let generation = object.generation {
            request.setValue("\(generation)", forHTTPHeaderField: S3Answer.Field.generation)
        }
        let answer = try await send(request)
        switch answer.status {
        case 200...299: return true
        // Another node was faster, or is storing it now.
        case 412, 409: return false
        default: throw answer.error
        }
    }

    package func remove(_ name: String) async throws(EngineError) {
        let answer = try await send(request("DELETE", name))
        guard (200...299).contains(answer.status) || answer.status == 404 else {
            throw answer.error
        }
    }

    private func request(_ method: String, _ name: String) -> URLRequest {
        var request = URLRequest(url: url(of: name))
        request.httpMethod = method
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    private func url(of name: String) -> URL {
        // Plain characters and escapes alone always form a valid URL.
        URL(string: folder + S3Signature.escaped(name)) ?? settings.endpoint
    }

    private static func folder(_ settings: Settings) -> String {
        var parts = URLComponents(url: settings.endpoint, resolvingAgainstBaseURL: true)
        var path = S3Signature.escaped(path: parts?.percentEncodedPath ?? "")
        while path.hasSuffix("/") { path.removeLast() }
        for segment in [settings.bucket] + settings.prefix.split(separator: "/").map(String.init) {
            path += "/" + S3Signature.escaped(segment)
        }
        parts?.percentEncodedPath = path + "/"
        return parts?.string ?? settings.endpoint.absoluteString
    }

    private func sign(_ request: inout URLRequest, with keys: S3Keys) {
        let signature = S3Signature(keys, region: settings.region)
        let date = time.date
        let key = dayKey.withLock { known in
            let key = signature.dayKey(at: date, known: known)
            known = key
            return key
        }
        signature.sign(&request, at: date, known: key)
    }

    /// Sends a request once admitted. A wait above the timeout fails the request, but does not
    /// count as a failure of the store.
    private func send(_ request: URLRequest) async throws(EngineError) -> S3Answer {
        let start = time.now
        do {
            try await gate.enter("", priority: TransferPriority())
        } catch {
            throw EngineError("nobody waits for the store any longer")
        }
        defer { gate.leave("") }
        guard time.now - start < settings.timeout else {
            throw EngineError("too many ask the store")
        }
        guard breaker.withLock({ $0.admit(at: time.now) }) else {
            throw EngineError("the store is not asked for a while")
        }
        return try await sendNow(request)
    }

    /// Sends a request, and counts the failures of the store but not our own.
    private func sendNow(_ unsigned: URLRequest) async throws(EngineError) -> S3Answer {
        var request = unsigned
        let deadline = time.now + settings.timeout
        do {
            let keys = try await settings.credentials.keys(until: deadline)
            sign(&request, with: keys)
            let (head, body) = try await transport.answer(
                to: request,
                terms: ExchangeTerms(
                    stall: settings.timeout, deadline: time.systemInstant(of: deadline)),
                limit: settings.maximumBytes)
            let answer = S3Answer(head: head, body: body)
            let verdict = answer.verdict(of: request.httpMethod)
            if verdict == .expired || verdict == .refuses { settings.credentials.distrust(keys) }
            if verdict == .fails || verdict == .refuses { throw answer.error }
            breaker.withLock { verdict == .unknown ? $0.abandon(at: time.now) : $0.succeed() }
            return answer
        } catch {
            let reason = error as? EngineError ?? EngineError("\(error)")
            let isTooLarge = if case TransportError.responseTooLarge = error { true } else { false }
            let isGivenUpHere = Task.isCancelled || isTooLarge
            let isPause = breaker.withLock { breaker in
                guard isGivenUpHere else { return breaker.fail(at: time.now) }
                breaker.abandon(at: time.now)
                return false
            }
            if isPause { settings.onPause(reason) }
            throw reason
        }
    }
}
