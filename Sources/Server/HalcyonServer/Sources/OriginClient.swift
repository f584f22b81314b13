import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import HalcyonTelemetry
import Synchronization
import Tracing

/// Fetches pictures of other servers: only from allowed URLs, checked hop by hop, and never from
/// non-public networks unless allowed.
final class OriginClient: Sendable {
    struct Answer: Sendable {
        /// 200 or, to a condition, 304.
        let status: Int
        let fields: HTTPFields
        /// Empty for 304.
        let body: Data
        /// The times when the request was sent, and when the head of the response had arrived.
        let requested: Date
        let received: Date
    }

    /// The servers that have asked for a pause.
    let pauses = OriginPauses()
    /// The maximum number of image servers in a chain, each a source of the next.
    private static let mostHops = 3
    let settings: ImageServerConfiguration.HTTPSources
    let time: TimeSource
    private let transport: any HTTPTransport
    private let rules: Observed<SourcePolicy>
    private let origins: [String: any ImageOrigin]

    init(
        _ settings: ImageServerConfiguration.HTTPSources, connectionsPerHost: Int,
        rules: Observed<SourcePolicy>, origins: [String: any ImageOrigin], time: TimeSource
    ) throws {
        self.settings = settings
        self.time = time
        self.rules = rules
        self.origins = origins
        var client = HTTPClientConfiguration()
        client.connectTimeout = settings.connectTimeout.inSeconds
        client.connectionsPerHost = connectionsPerHost
        // Behind a proxy, the checked addresses would be the proxy's.
        client.usesEnvironmentProxies = false
        client.addressPolicy = AddressPolicy(settings)
        transport = try CurlTransport.shared(for: client)
    }

    /// Fetches `url`, with its redirects.
    ///
    /// - Parameters:
    ///   - maximumBytes: The limit for the decoded body.
    ///   - condition: The validator of the cached source, if there is one.
    ///   - propagating: Whether the trace context is sent to servers.
    func fetch(
        _ url: URL, maximumBytes: Int, for asker: SourceAsker,
        unless condition: ValidationCondition? = nil, spans: SpanScope, propagating: Bool
    ) async throws(Failure) -> Answer {
        guard asker.hops < Self.mostHops else {
            throw Failure(.sourceUnreachable, "The source leads back to this server")
        }
        if let origin = url.scheme.flatMap({ origins[$0.lowercased()] }) {
            return try await spans.span("halcyon.fetch", ofKind: .client) { _ throws(Failure) in
                try await fetch(
                    url, from: origin, maximumBytes: maximumBytes, unless: condition)
            }
        }
        let deadline = time.now + settings.totalTimeout
        var request = URLRequest(url: url)
        setOwnFields(of: &request, hops: asker.hops)
        for line in asker.forwarded.lines {
            request.setValue(line.value, forHTTPHeaderField: line.name)
        }
        if let line = condition?.line {
            request.setValue(line.value, forHTTPHeaderField: line.name)
        }
        for hop in 0...settings.redirects {
            request.url = try allowed(request.url, isFirst: request.url == url)
            try respectPause(of: request.url)
            let requested = time.date
            let (head, body) = try await spans.span("halcyon.fetch", ofKind: .client) {
                [request] span throws(Failure) in
                var sent = request
                if propagating, let span { spans.tell(&sent, of: span) }
                span?.note(sent, hop: hop)
                let answer = try await exchange(sent, maximumBytes, deadline)
                span?.attributes["http.response.status_code"] = answer.head.status
                return answer
            }
            if let url = request.url {
                pauses.note(
                    status: head.status, fields: head.fields, from: url, at: time.date)
            }
            if var next = try redirect(of: request, by: head) {
                if next.url.map(Origin.init) != request.url.map(Origin.init) {
                    // The client's fields are only for the server that was asked first.
                    for line in asker.forwarded.lines {
                        next.setValue(nil, forHTTPHeaderField: line.name)
                    }
                    setOwnFields(of: &next, hops: asker.hops)
                }
                request = next
                continue
            }
            return try answer(
                head, body, isConditional: condition != nil, requested: requested)
        }
        throw Failure(
            .sourceUnreachable, "The source leads to more redirects than are followed",
            refusal: Self.redirectRefusal)
    }

    private func setOwnFields(of request: inout URLRequest, hops: Int) {
        request.setValue(settings.userAgent, forHTTPHeaderField: "User-Agent")
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        request.setValue(ServerHops.field(after: hops), forHTTPHeaderField: "Via")
    }

    private static let redirectRefusal = "redirect"

    private func allowed(_ url: URL?, isFirst: Bool) throws(Failure) -> URL? {
        do throws(PlanError) {
            return URL(string: try rules.value.url(url?.absoluteString ?? "").text)
        } catch {
            guard !isFirst else { throw Failure(error) }
            throw Failure(
                .sourceUnreachable, "The source leads to one that is not allowed",
                cause: error.reason, refusal: Self.redirectRefusal)
        }
    }

    /// - Throws: `sourceBusy` while the server of `url` has asked for a pause.
    private func respectPause(of url: URL?) throws(Failure) {
        let now = time.date
        guard let end = url.flatMap({ pauses.end(for: $0, at: now) }) else { return }
        throw Failure(
            .sourceBusy, "The source has asked to be left alone",
            retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
    }

    private func exchange(
        _ request: URLRequest, _ maximumBytes: Int, _ deadline: ContinuousClock.Instant
    ) async throws(Failure) -> (head: AnswerHead, body: Data) {
        let hasHead = Atomic(false)
        do {
            return try await transport.answer(
                to: request,
                terms: ExchangeTerms(
                    stall: settings.stallTimeout, deadline: time.systemInstant(of: deadline)),
                limit: maximumBytes,
                accepting: { head in
                    hasHead.store(true, ordering: .relaxed)
                    return head.status == 200 || head.status == 206
                },
                checking: { try Self.recognise($0) })
        } catch let failure as Failure {
            throw failure
        } catch let error as TransportError {
            throw Failure(error, hasHead: hasHead.load(ordering: .relaxed))
        } catch let shortage as LargeMemory.Shortage {
            throw Failure(shortage)
        } catch {
            throw Failure(.clientGone, "nobody waits any longer")
        }
    }

    /// Returns the request after a redirect; `nil` for other responses.
    private func redirect(
        of request: URLRequest, by head: AnswerHead
    ) throws(Failure) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status) else { return nil }
        do {
            guard let next = try request.redirected(by: head.response) else { return nil }
            if request.url?.scheme?.lowercased() == "https",
                next.url?.scheme?.lowercased() != "https"
            {
                throw Failure(
                    .sourceUnreachable, "The source leads from https to http",
                    refusal: Self.redirectRefusal)
            }
            return next
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .sourceUnreachable, "The source leads to what cannot be fetched",
                cause: "\(error)", refusal: Self.redirectRefusal)
        }
    }

    /// Interprets the last response of a chain.
    private func answer(
        _ head: AnswerHead, _ body: Data, isConditional: Bool, requested: Date
    ) throws(Failure) -> Answer {
        var fields = HTTPFields(unpacked: head).withoutConnection(keeping: [])
        switch head.status {
        case 200:
            break
        case 206:
            // The whole body, sent as a range without being asked.
            guard head.value("content-range") == "bytes 0-\(body.count - 1)/\(body.count)" else {
                throw Failure(.sourceIncomplete, "The source has sent a part of itself")
            }
            fields.remove(["content-range"])
        case 304 where isConditional:
            break
        case 429:
            throw Failure(
                .sourceBusy, "The source is asked too often",
                retryAfter: RetryAfter.delay(status: 429, fields: fields, received: time.date)
                    .map { Int(min(max(1, $0.rounded(.up)), 3600)) } ?? 30)
        default:
            throw Failure(
                .sourceStatus(head.status >= 400 ? head.status : 404),
                "The source has answered with \(head.status)")
        }
        return Answer(
            status: head.status == 304 ? 304 : 200, fields: fields, body: body,
            requested: requested, received: time.date)
    }
}

extension Failure {
    /// - Parameter hasHead: Whether the head of the response had arrived.
    fileprivate init(_ error: TransportError, hasHead: Bool) {
        let kind: Kind
        let detail: String
        switch error {
        case .timedOut: (kind, detail) = (.sourceTimeout, "The source is too slow")
        case .responseTooLarge(_, let limit):
            (kind, detail) = (.sourceTooLarge, "The source has more than \(limit) bytes")
        case .incompleteBody, .undecodableBody:
            (kind, detail) = (.sourceIncomplete, "The source has ended before its end")
        case .connectionReset where hasHead:
            (kind, detail) = (.sourceIncomplete, "The source has broken off")
        default: (kind, detail) = (.sourceUnreachable, "The source cannot be reached")
        }
        self.init(kind, detail, cause: error.description)
        switch error {
        case .cannotResolveHost, .connectionRefused, .cannotConnect, .addressRefused, .tls:
            isOfThisServer = true
        default: break
        }
        if case .addressRefused(_, let address) = error {
            let kind = IPAddress(address).map(AddressKind.init)
            // A public address is refused only if the operator has denied it.
            refusal = kind == .public ? "denied" : kind?.rawValue ?? "unknown"
        }
    }
}

extension AddressPolicy {
    /// Which addresses a server connects to that fetches what its clients name.
    fileprivate init(_ settings: ImageServerConfiguration.HTTPSources) {
        var kinds: Set<AddressKind> = []
        if settings.allowsPrivate { kinds.formUnion([.private, .shared]) }
        if settings.allowsLoopback { kinds.insert(.loopback) }
        if settings.allowsLinkLocal { kinds.insert(.linkLocal) }
        self = .publicInternet(
            and: kinds, allowed: settings.allowAddresses, denied: settings.denyAddresses)
    }
}
