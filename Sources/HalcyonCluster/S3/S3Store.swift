package import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonWork
import Synchronization

/// Objects in a bucket of a store that speaks the protocol of Amazon S3.
///
/// Length and SHA-256 of an object are its metadata: one request tells whether it is whole; and its generation,
/// where it has one. Nothing else is, because stores limit metadata, Amazon's to 2 KB.
package final class S3Store: SharedBytes {
    package struct Settings: Sendable {
        /// Scheme, host and, where needed, port and path; the bucket is the next segment.
        package var endpoint: URL
        package var bucket: String
        package var region: String
        package var credentials: S3Credentials
        /// Before all names, without slashes around it; may be empty.
        package var prefix = ""
        /// How long a request may take.
        package var timeout = Duration.milliseconds(500)
        /// The largest object that is read.
        package var maximumBytes = 100 << 20
        package var failuresUntilPause = 5
        package var pause = Duration.milliseconds(500)
        package var longestPause = Duration.seconds(10)

        package init(endpoint: URL, bucket: String, region: String, credentials: S3Credentials) {
            self.endpoint = endpoint
            self.bucket = bucket
            self.region = region
            self.credentials = credentials
        }
    }

    private let settings: Settings
    private let transport: any HTTPTransport
    private let breaker: Mutex<CircuitBreaker>
    private let dayKey = Mutex<S3Signature.DayKey?>(nil)
    /// Where all objects are.
    private let folder: URL
    private let folderText: String

    package init(_ settings: Settings) throws {
        self.settings = settings
        var client = HTTPClientConfiguration()
        client.connectTimeout = settings.timeout / .seconds(1)
        client.connectionsPerHost = 32
        client.usesEnvironmentProxies = false
        transport = try CurlTransport.shared(for: client)
        var folder = settings.endpoint.appendingPathComponent(settings.bucket)
        if !settings.prefix.isEmpty { folder.appendPathComponent(settings.prefix) }
        self.folder = folder
        folderText = folder.absoluteString
        breaker = Mutex(
            CircuitBreaker(
                failures: settings.failuresUntilPause, pause: settings.pause,
                longestPause: settings.longestPause))
    }

    package var breakerState: CircuitBreaker.State { breaker.withLock { $0.state } }

    package func object(_ name: String) async throws(EngineError) -> SharedObject? {
        let answer = try await send(request("GET", name))
        switch answer.status {
        case 200: return Self.object(answer)
        case 404: return nil
        default: throw EngineError("the store has answered with \(answer.status)")
        }
    }

    package func store(
        _ object: SharedObject, as name: String, replacing: Bool
    ) async throws(EngineError) -> Bool {
        var request = request("PUT", name)
        request.httpBody = object.body
        request.setValue(object.mediaType, forHTTPHeaderField: "Content-Type")
        if !replacing { request.setValue("*", forHTTPHeaderField: "If-None-Match") }
        request.setValue("\(object.body.count)", forHTTPHeaderField: Field.length)
        request.setValue(
            Digest.sha256.hexadecimal(object.body), forHTTPHeaderField: Field.digest)
        if let generation = object.generation {
            request.setValue("\(generation)", forHTTPHeaderField: Field.generation)
        }
        let answer = try await send(request)
        switch answer.status {
        case 200...299: return true
        // Another node was faster, or is storing it at this moment.
        case 412, 409: return false
        default: throw EngineError("the store has answered with \(answer.status)")
        }
    }

    package func remove(_ name: String) async throws(EngineError) {
        let answer = try await send(request("DELETE", name))
        guard (200...299).contains(answer.status) || answer.status == 404 else {
            throw EngineError("the store has answered with \(answer.status)")
        }
    }

    // MARK: Requests

    private enum Field {
        static let length = "x-amz-meta-halcyon-length"
        static let digest = "x-amz-meta-halcyon-sha256"
        static let generation = "x-amz-meta-halcyon-generation"
    }

    private struct Answer: Sendable {
        let status: Int
        let head: AnswerHead
        let body: Data
    }

    private func request(_ method: String, _ name: String) -> URLRequest {
        var request = URLRequest(url: url(of: name))
        request.httpMethod = method
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    private func url(of name: String) -> URL {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2F, 0x5F: true
            default: false
            }
        }
        // The usual names need no escapes, and are found faster.
        if isPlain, let url = URL(string: "\(folderText)/\(name)") { return url }
        return folder.appendingPathComponent(name)
    }

    private func sign(_ request: inout URLRequest, with keys: S3Keys) {
        let signature = S3Signature(keys, region: settings.region)
        let date = Date()
        let key = dayKey.withLock { known in
            let key = signature.dayKey(at: date, known: known)
            known = key
            return key
        }
        signature.sign(&request, at: date, known: key)
    }

    /// Sends a request, and counts as failures of the store what is none of ours.
    private func send(_ unsigned: URLRequest) async throws(EngineError) -> Answer {
        guard breaker.withLock({ $0.admit(at: .now) }) else {
            throw EngineError("the store is not asked for a while")
        }
        var request = unsigned
        let collector = BodyCollector(limit: settings.maximumBytes)
        do {
            let keys = try await settings.credentials.keys()
            sign(&request, with: keys)
            _ = try await transport.perform(
                request,
                terms: ExchangeTerms(stall: settings.timeout, deadline: .now + settings.timeout),
                onResponse: { collector.begin($0) }, onBody: { try collector.take($0) })
            guard let (head, body) = collector.answer else {
                throw EngineError("the store has not answered")
            }
            if head.status == 403 { settings.credentials.distrust(keys) }
            guard head.status < 500, head.status != 403, head.status != 429 else {
                throw EngineError("the store has answered with \(head.status)")
            }
            breaker.withLock { $0.succeed() }
            return Answer(status: head.status, head: head, body: body)
        } catch {
            let isGivenUpHere = Task.isCancelled || collector.isTooLarge
            breaker.withLock { isGivenUpHere ? $0.abandon(at: .now) : $0.fail(at: .now) }
            throw error as? EngineError ?? EngineError("\(error)")
        }
    }

    /// `nil` for one that is not whole.
    private static func object(_ answer: Answer) -> SharedObject? {
        guard answer.head.value(Field.length) == "\(answer.body.count)",
            answer.head.value(Field.digest) == Digest.sha256.hexadecimal(answer.body)
        else { return nil }
        return SharedObject(
            body: answer.body,
            mediaType: answer.head.value("content-type") ?? "application/octet-stream",
            generation: answer.head.value(Field.generation).flatMap { Int64($0) })
    }
}
