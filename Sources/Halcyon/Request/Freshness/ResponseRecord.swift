import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonStorage
import Synchronization

/// A server's response as this process knows it: one generation of its bytes.
///
/// Images in memory refer to the record of the response they were made of. So a `304` makes all of them
/// fresh again at once, and a new generation takes them all out of use.
final class ResponseRecord: Sendable {
    private struct State {
        var stored: StoredResponse
        var freshUntil: Date
        /// Waits between attempts that failed while a stale copy was used instead.
        var pause = FailurePause(.whileStaleOnError)
        var lastError: KingfisherError?
    }

    /// The response key.
    let key: String
    /// A random number that no other bytes have; 0 for a redirect or a remembered error.
    let generation: Int64
    /// The length and the XXH3-64 of the bytes as they came.
    let bodyLength: Int64?
    let bodyChecksum: Int64?
    /// By whose rules `usableUntil` was found.
    private let caching: HTTPCaching
    private let state: Mutex<State>
    /// Seconds since 1970 from and until which no decision is needed, as bits.
    private let usableFrom: Atomic<UInt64>
    private let usableUntil: Atomic<UInt64>
    private let isSuperseded = Atomic(false)

    init(
        key: String, generation: Int64, stored: StoredResponse, bodyLength: Int64? = nil,
        bodyChecksum: Int64? = nil, under policy: HTTPCachePolicy
    ) {
        self.key = key
        self.generation = generation
        self.bodyLength = bodyLength
        self.bodyChecksum = bodyChecksum
        caching = policy.caching
        state = Mutex(
            State(stored: stored, freshUntil: policy.freshness(of: stored).freshUntil))
        usableFrom = Atomic(Self.bits(stored.received))
        usableUntil = Atomic(Self.bits(policy.usableWithoutDecision(stored)))
    }

    var stored: StoredResponse { state.withLock { $0.stored } }
    var variant: Data { Data(stored.variant) }
    var freshUntil: Date { state.withLock { $0.freshUntil } }

    /// Whether it is what the cache has under its key and variant.
    var isCurrent: Bool { !isSuperseded.load(ordering: .acquiring) }

    /// Whether an image made of it may be used now without a decision.
    func isUsable(at now: Date, under caching: HTTPCaching) -> Bool {
        let now = now.timeIntervalSince1970
        return now < Double(bitPattern: usableUntil.load(ordering: .acquiring))
            && now >= Double(bitPattern: usableFrom.load(ordering: .acquiring))
            && caching == self.caching
    }

    /// Takes over what a validation, or another process, has found out about the same bytes.
    func freshen(_ stored: StoredResponse, under policy: HTTPCachePolicy) {
        let until = Self.bits(policy.usableWithoutDecision(stored))
        let freshUntil = policy.freshness(of: stored).freshUntil
        state.withLock {
            $0.stored = stored
            $0.freshUntil = freshUntil
            $0.pause.noteSuccess()
            $0.lastError = nil
        }
        guard isCurrent, policy.caching == caching else { return }
        usableFrom.store(Self.bits(stored.received), ordering: .releasing)
        usableUntil.store(until, ordering: .releasing)
    }

    /// Ends its use: other bytes have taken its place, or it may not be kept.
    func supersede() {
        isSuperseded.store(true, ordering: .releasing)
        usableUntil.store(Self.bits(nil), ordering: .releasing)
    }

    /// Has it validated before it is used again.
    func invalidate() {
        state.withLock { $0.stored.isInvalidated = true }
        usableUntil.store(Self.bits(nil), ordering: .releasing)
    }

    /// Notes that a stale copy was used because of `error`.
    func noteFailure(_ error: KingfisherError, at now: Date, retryAfter: TimeInterval?) {
        state.withLock {
            $0.pause.noteFailure(at: now, retryAfter: retryAfter, chance: 0.5)
            $0.lastError = error
        }
    }

    /// The error because of which the server is left alone for a while.
    func pausingError(at now: Date) -> KingfisherError? {
        state.withLock { $0.pause.end(at: now) == nil ? nil : $0.lastError }
    }

    private static func bits(_ date: Date?) -> UInt64 {
        (date?.timeIntervalSince1970 ?? -.infinity).bitPattern
    }
}

/// What an image in the memory cache was made of; the cache keeps it beside the image.
final class ImageOrigin: Sendable {
    /// The program itself has stored the image.
    static let program = ImageOrigin(record: nil, way: [], isWayKnown: true)

    /// The response; `nil` for none.
    let record: ResponseRecord?
    /// The redirects that led to it.
    let way: [ResponseRecord]
    /// Whether all redirects on the way are stored; if not they have to be asked for each time.
    let isWayKnown: Bool

    init(record: ResponseRecord?, way: [ResponseRecord], isWayKnown: Bool) {
        self.record = record
        self.way = way
        self.isWayKnown = isWayKnown
    }

    /// Whether the image may be used now without a decision.
    func isUsable(at now: Date, under caching: HTTPCaching) -> Bool {
        guard let record else { return true }
        return isWayKnown && record.isUsable(at: now, under: caching)
            && way.allSatisfy { $0.isUsable(at: now, under: caching) }
    }

    /// Whether the image was reached by the same redirects.
    func isSameWay(as other: ImageOrigin) -> Bool {
        isWayKnown == other.isWayKnown && way.elementsEqual(other.way, by: ===)
    }
}

extension ResponseRecord {
    /// Whether these are the bytes that came with the response.
    func holds(_ body: Data) -> Bool {
        generation != 0 && bodyLength == Int64(body.count)
            && bodyChecksum == DiskFile.checksum(body)
    }

    /// Whether the index says that a file was made of this response's bytes.
    func isOrigin(of file: FileOrigin?) -> Bool {
        guard case .response(let key, let variant, let generation, _)? = file?.derivation else {
            return false
        }
        return generation == self.generation && key == rowKey && variant == self.variant
    }

    /// Where it leads when it is a redirect of `request`; `nil` when it is none, or one that may not be
    /// followed.
    func redirect(_ request: URLRequest?) -> URLRequest? {
        guard (300...399).contains(stored.status), let request,
            let response = HTTPURLResponse(stored)
        else { return nil }
        // What may not be followed is asked for again, and fails as the network's answer.
        return try? request.redirected(by: response)
    }
}

/// What is known of an image that is being stored.
struct StatedOrigin: Sendable {
    /// The program itself stores it.
    static let program = StatedOrigin(.program)

    let origin: ImageOrigin
    /// The variants of the response's key that it takes the place of.
    let superseded: [Data]

    init(_ origin: ImageOrigin, superseding: [ResponseRecord] = []) {
        self.origin = origin
        superseded = superseding.map(\.variant).filter { $0 != origin.record?.variant }
    }

    /// What the index is to say of a file of `bytes`.
    func derivation(of bytes: Data) -> Derivation {
        guard let record = origin.record else { return .program }
        return .response(
            key: record.rowKey, variant: record.variant, generation: record.generation,
            isOriginal: record.holds(bytes))
    }

    /// The response's row, which is written with the file.
    var response: ResponsePut? {
        origin.record.map { ResponsePut(row: $0.row, superseded: superseded) }
    }
}

extension HTTPURLResponse {
    /// A stored response for those who know Foundation's.
    convenience init?(_ stored: StoredResponse) {
        self.init(
            url: stored.url, statusCode: stored.status, httpVersion: "HTTP/1.1",
            headerFields: Dictionary(
                stored.fields.lines.map { ($0.name, $0.value) },
                uniquingKeysWith: { "\($0), \($1)" }))
    }
}
