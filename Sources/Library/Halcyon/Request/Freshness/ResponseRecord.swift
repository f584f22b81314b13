import Foundation
import FoundationNetworking
import Synchronization

/// The state of a server's response in this process: one generation of its bytes.
///
/// Images in memory refer to the record of their response. So a `304` makes all of them fresh again
/// at once, and a new generation invalidates all of them.
final class ResponseRecord: Sendable {
    private struct State {
        var stored: StoredResponse
        var freshUntil: Date
        /// The pauses between failed attempts while a stale copy is used.
        var pause = FailurePause(.whileStaleOnError)
        var lastError: KingfisherError?
        /// Source keys of its images in memory, the latest at the end.
        var imageKeys: [String] = []
    }

    private static let imageKeyLimit = 8

    let key: String
    let rowKey: String
    /// A random number, unique for these bytes; 0 for a redirect or a remembered error.
    let generation: Int64
    /// `nil` for a redirect or a remembered error.
    let body: ResponseBody?
    /// The times at which no decision is needed.
    let usability: ResponseUsability
    private let state: Mutex<State>
    private let isSuperseded = Atomic(false)
    private let isForAll = Atomic(false)

    init(
        key: String, generation: Int64, stored: StoredResponse, body: ResponseBody?,
        under policy: HTTPCachePolicy
    ) {
        self.key = key
        rowKey = CachedResponses.rowKey(key)
        self.generation = generation
        self.body = body
        usability = ResponseUsability(of: stored, under: policy)
        state = Mutex(
            State(stored: stored, freshUntil: policy.freshness(of: stored).freshUntil))
    }

    var stored: StoredResponse { state.withLock { $0.stored } }
    var variant: Data { Data(stored.variant) }
    var freshUntil: Date { state.withLock { $0.freshUntil } }

    var isCurrent: Bool { !isSuperseded.load(ordering: .acquiring) }

    /// Takes over the result of a validation, or of another process, for the same bytes.
    func freshen(_ stored: StoredResponse, under policy: HTTPCachePolicy) {
        let freshUntil = policy.freshness(of: stored).freshUntil
        let usable = usability.span(of: stored, under: policy)
        state.withLock {
            $0.stored = stored
            $0.freshUntil = freshUntil
            $0.pause.noteSuccess()
            $0.lastError = nil
            if isCurrent { usability.set(usable) }
        }
    }

    var imageKeys: [String] { state.withLock { $0.imageKeys } }

    func noteImage(forKey key: String) {
        state.withLock {
            guard !$0.imageKeys.contains(key) else { return }
            $0.imageKeys.append(key)
            if $0.imageKeys.count > Self.imageKeyLimit { $0.imageKeys.removeFirst() }
        }
    }

    /// Allows sharing with other users than this program's.
    func allowSharing() {
        isForAll.store(true, ordering: .releasing)
    }

    /// The response as a shared cache may store it, without secrets in its URL; `nil` if it may
    /// not. If the request is no longer known, it may not, unless the response explicitly permits
    /// sharing of responses to requests with credentials.
    var storedForAll: StoredResponse? {
        var stored = stored
        var asked = HTTPCacheRequest(url: stored.url)
        if !isForAll.load(ordering: .acquiring) { asked.fields.append("Authorization", "-") }
        let policy = HTTPCachePolicy(usability.caching) { $0 }.inRoleOfAll
        let storing = policy.storing(
            asked, status: stored.status, fields: stored.fields, requested: stored.requested,
            received: stored.received)
        guard case .store(let allowed) = storing,
            let url = URL(string: stored.url.absoluteString.maskingSecrets)
        else { return nil }
        stored.fields = allowed.fields
        stored.url = url
        return stored
    }

    /// Ends its use: it was replaced by other bytes, or may not be kept.
    func supersede() {
        // Under the lock, so that a simultaneous response cannot make it usable again.
        state.withLock { _ in
            isSuperseded.store(true, ordering: .releasing)
            usability.set(nil)
        }
    }

    /// Requires validation before it is used again.
    func invalidate() {
        state.withLock {
            $0.stored.isInvalidated = true
            usability.set(nil)
        }
    }

    /// Records that a stale copy was used because of `error`.
    func noteFailure(_ error: KingfisherError, at now: Date, retryAfter: TimeInterval?) {
        state.withLock {
            $0.pause.noteFailure(at: now, retryAfter: retryAfter, chance: 0.5)
            $0.lastError = error
        }
    }

    /// Returns the error for which requests to the server are paused.
    func pausingError(at now: Date) -> KingfisherError? {
        state.withLock { $0.pause.end(at: now) == nil ? nil : $0.lastError }
    }
}

/// The times at which an image of a response may be used without a decision.
///
/// Separate from the response's record: that has weak references, so that counting its references
/// takes five times as long, and these times are read for each memory hit.
final class ResponseUsability: Sendable {
    let caching: HTTPCaching
    /// Seconds since 1970, as bits.
    private let from: Atomic<UInt64>
    private let until: Atomic<UInt64>

    init(of stored: StoredResponse, under policy: HTTPCachePolicy) {
        caching = policy.caching
        from = Atomic(Self.bits(stored.received))
        until = Atomic(Self.bits(policy.usableWithoutDecision(stored)))
    }

    func holds(at now: Date, under caching: HTTPCaching) -> Bool {
        let now = now.timeIntervalSince1970
        return now < Double(bitPattern: until.load(ordering: .acquiring))
            && now >= Double(bitPattern: from.load(ordering: .acquiring))
            && caching == self.caching
    }

    /// Returns the times of use after new information about the same bytes, possibly under other
    /// rules than its own; `nil` for never.
    func span(of stored: StoredResponse, under policy: HTTPCachePolicy) -> (
        from: Date, until: Date
    )? {
        let policy = policy.caching == caching ? policy : HTTPCachePolicy(caching)
        return policy.usableWithoutDecision(stored).map { (stored.received, $0) }
    }

    /// Sets the times of use; `nil` for never.
    func set(_ span: (from: Date, until: Date)?) {
        if let span { from.store(Self.bits(span.from), ordering: .releasing) }
        until.store(Self.bits(span?.until), ordering: .releasing)
    }

    private static func bits(_ date: Date?) -> UInt64 {
        (date?.timeIntervalSince1970 ?? -.infinity).bitPattern
    }
}

/// The identity of a response's content: its length and the XXH3-64 of the bytes as received.
struct ResponseBody: Equatable, Sendable {
    let length: Int64
    let checksum: Int64
}

extension ResponseBody {
    init(_ bytes: Data) {
        self.init(length: Int64(bytes.count), checksum: DiskFile.checksum(bytes))
    }

    /// `nil` if the row is that of a response without content.
    init?(_ row: ResponseRow) {
        guard let length = row.bodyLength, let checksum = row.bodyChecksum else { return nil }
        self.init(length: length, checksum: checksum)
    }
}

/// The origin of an image in the memory cache, which stores it beside the image.
final class ImageOrigin: Sendable {
    static let program = ImageOrigin(record: nil, way: [])

    /// The response; `nil` if there is none.
    let record: ResponseRecord?
    /// The stored redirects that led to it.
    let way: [ResponseRecord]
    /// Whether all redirects on the way are stored; if not they must be requested each time.
    let isWayKnown: Bool
    private let usability: ResponseUsability?
    private let wayUsability: [ResponseUsability]

    /// - Parameter way: The redirects that led to the response; `nil` for one that is not stored.
    init(record: ResponseRecord?, way: [ResponseRecord?]) {
        self.record = record
        self.way = way.compactMap { $0 }
        isWayKnown = self.way.count == way.count
        usability = record?.usability
        wayUsability = self.way.map(\.usability)
    }

    func isUsable(at now: Date, under caching: HTTPCaching) -> Bool {
        guard let usability else { return true }
        return isWayKnown && usability.holds(at: now, under: caching)
            && (wayUsability.isEmpty
                || wayUsability.allSatisfy { $0.holds(at: now, under: caching) })
    }

    func isSameWay(as other: ImageOrigin) -> Bool {
        isWayKnown == other.isWayKnown && way.elementsEqual(other.way, by: ===)
    }
}

extension ResponseRecord {
    /// Whether, according to the index, a file was made from this response's bytes.
    func isOrigin(of file: FileOrigin?) -> Bool {
        guard case .response(let key, let variant, let generation, _)? = file?.derivation else {
            return false
        }
        return generation == self.generation && key == rowKey && variant == self.variant
    }

    /// Returns the target of the redirect of `request`; `nil` if it is no redirect, or one that may
    /// not be followed.
    func redirect(_ request: URLRequest?) -> URLRequest? {
        let stored = stored
        guard (300...399).contains(stored.status), let request else { return nil }
        // A forbidden redirect is requested again, and fails as the network's response.
        return try? request.redirected(by: AnswerHead(stored).response)
    }
}

/// The known origin of an image being stored.
struct StatedOrigin: Sendable {
    static let program = StatedOrigin(.program)

    let origin: ImageOrigin
    private let superseded: [ResponseRecord]

    init(_ origin: ImageOrigin, superseding superseded: [ResponseRecord] = []) {
        self.origin = origin
        self.superseded = superseded
    }

    func derivation(of bytes: Data) -> Derivation {
        guard let record = origin.record else { return .program }
        return .response(
            key: record.rowKey, variant: record.variant, generation: record.generation,
            isOriginal: record.body?.length == Int64(bytes.count)
                && record.body == ResponseBody(bytes))
    }

    /// The response's row, which is written with the file.
    var response: ResponsePut? {
        origin.record.map { ResponsePut($0, superseding: superseded) }
    }
}

extension ResponsePut {
    init(_ record: ResponseRecord, superseding others: [ResponseRecord]) {
        let variant = record.variant
        self.init(
            row: record.row, superseded: others.map(\.variant).filter { $0 != variant })
    }
}

extension AnswerHead {
    convenience init(_ stored: StoredResponse) {
        self.init(url: stored.url, status: stored.status, fields: stored.fields)
    }
}
