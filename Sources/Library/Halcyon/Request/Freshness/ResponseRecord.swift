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
        /// Source keys of images in memory that were made of it, those noted last at the end.
        var imageKeys: [String] = []
    }

    /// More keys for one response are not remembered.
    private static let imageKeyLimit = 8

    /// The response key.
    let key: String
    /// That of its row.
    let rowKey: String
    /// A random number that no other bytes have; 0 for a redirect or a remembered error.
    let generation: Int64
    /// `nil` for a redirect or a remembered error.
    let body: ResponseBody?
    /// When no decision is needed.
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

    /// Whether it is what the cache has under its key and variant.
    var isCurrent: Bool { !isSuperseded.load(ordering: .acquiring) }

    /// Takes over what a validation, or another process, has found out about the same bytes.
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

    /// The keys of sources whose images in memory were made of it.
    var imageKeys: [String] { state.withLock { $0.imageKeys } }

    /// Notes that an image of a source's is in memory.
    func noteImage(forKey key: String) {
        state.withLock {
            guard !$0.imageKeys.contains(key) else { return }
            $0.imageKeys.append(key)
            if $0.imageKeys.count > Self.imageKeyLimit { $0.imageKeys.removeFirst() }
        }
    }

    /// Notes that others than this program's user may have it, too.
    func allowSharing() {
        isForAll.store(true, ordering: .releasing)
    }

    /// What a cache of several users may store of it, without secrets in its URL; `nil` for nothing. Of a
    /// record whose request is not known any longer, that is so unless the response says that even answers
    /// to requests with credentials are for all.
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

    /// Ends its use: other bytes have taken its place, or it may not be kept.
    func supersede() {
        // Under the lock, so that no answer that comes now has it used again.
        state.withLock { _ in
            isSuperseded.store(true, ordering: .releasing)
            usability.set(nil)
        }
    }

    /// Has it validated before it is used again.
    func invalidate() {
        state.withLock {
            $0.stored.isInvalidated = true
            usability.set(nil)
        }
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
}

/// When an image made of a response may be used without a decision.
///
/// Apart from the response's record: that is referred to weakly, so that counting its references takes five
/// times as long, and this is asked for each image that is found in memory.
final class ResponseUsability: Sendable {
    /// By whose rules.
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

    /// When it may be used after something was found out about the same bytes, maybe by other rules than its
    /// own; `nil` for never.
    func span(of stored: StoredResponse, under policy: HTTPCachePolicy) -> (
        from: Date, until: Date
    )? {
        let policy = policy.caching == caching ? policy : HTTPCachePolicy(caching)
        return policy.usableWithoutDecision(stored).map { (stored.received, $0) }
    }

    /// Sets when it may be used; `nil` for never.
    func set(_ span: (from: Date, until: Date)?) {
        if let span { from.store(Self.bits(span.from), ordering: .releasing) }
        until.store(Self.bits(span?.until), ordering: .releasing)
    }

    private static func bits(_ date: Date?) -> UInt64 {
        (date?.timeIntervalSince1970 ?? -.infinity).bitPattern
    }
}

/// What tells the content of a response from others: its length and the XXH3-64 of the bytes as they came.
struct ResponseBody: Equatable, Sendable {
    let length: Int64
    let checksum: Int64

    init(_ bytes: Data) {
        self.init(length: Int64(bytes.count), checksum: DiskFile.checksum(bytes))
    }

    init(length: Int64, checksum: Int64) {
        self.length = length
        self.checksum = checksum
    }

    /// `nil` when the row is one of a response without content.
    init?(_ row: ResponseRow) {
        guard let length = row.bodyLength, let checksum = row.bodyChecksum else { return nil }
        (self.length, self.checksum) = (length, checksum)
    }
}

/// What an image in the memory cache was made of; the cache keeps it beside the image.
final class ImageOrigin: Sendable {
    /// The program itself has stored the image.
    static let program = ImageOrigin(record: nil, way: [])

    /// The response; `nil` for none.
    let record: ResponseRecord?
    /// The redirects that led to it, as far as they are stored.
    let way: [ResponseRecord]
    /// Whether all redirects on the way are stored; if not they have to be asked for each time.
    let isWayKnown: Bool
    /// That of the response, and of the redirects.
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

    /// Whether the image may be used now without a decision.
    func isUsable(at now: Date, under caching: HTTPCaching) -> Bool {
        guard let usability else { return true }
        return isWayKnown && usability.holds(at: now, under: caching)
            && (wayUsability.isEmpty
                || wayUsability.allSatisfy { $0.holds(at: now, under: caching) })
    }

    /// Whether the image was reached by the same redirects.
    func isSameWay(as other: ImageOrigin) -> Bool {
        isWayKnown == other.isWayKnown && way.elementsEqual(other.way, by: ===)
    }
}

extension ResponseRecord {
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
        let stored = stored
        guard (300...399).contains(stored.status), let request else { return nil }
        // What may not be followed is asked for again, and fails as the network's answer.
        return try? request.redirected(by: AnswerHead(stored).response)
    }
}

/// What is known of an image that is being stored.
struct StatedOrigin: Sendable {
    /// The program itself stores it.
    static let program = StatedOrigin(.program)

    let origin: ImageOrigin
    /// The responses that the image's takes the place of.
    private let superseded: [ResponseRecord]

    init(_ origin: ImageOrigin, superseding superseded: [ResponseRecord] = []) {
        self.origin = origin
        self.superseded = superseded
    }

    /// What the index is to say of a file of `bytes`.
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
    /// Stores the row of `record` in the place of others of its key.
    init(_ record: ResponseRecord, superseding others: [ResponseRecord]) {
        let variant = record.variant
        self.init(
            row: record.row, superseded: others.map(\.variant).filter { $0 != variant })
    }
}

extension AnswerHead {
    /// A stored response as it was when it came.
    convenience init(_ stored: StoredResponse) {
        self.init(url: stored.url, status: stored.status, fields: stored.fields)
    }
}
