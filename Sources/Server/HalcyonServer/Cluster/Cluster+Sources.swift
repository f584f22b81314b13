import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOFoundationCompat
import Synchronization

/// A source as servers tell each other of it.
struct SharedSource: Sendable {
    let head: SharedHead
    /// `nil` where only what its server has said is shared, or wanted.
    let body: Data?
    let generation: Int64
    let mark: PurgeMark
}

/// The time of the latest purge that concerns a source, by the clock that generations are of; 0 without any.
struct PurgeMark: Sendable {
    let time: Int64

    /// Whether something of a generation is from before it. This server need not have heard of the purge yet.
    func isAfter(_ generation: Int64?) -> Bool { time > 0 && generation ?? 0 <= time }
}

/// What others may have of a source whose server was asked.
struct TellableSource: Sendable {
    let head: SharedHead
    /// Names the version.
    let validator: String
    /// Whether its server has said that what was known is good.
    let isConfirmed: Bool
    /// Its bytes, which are read only where others do not have them.
    let body: @Sendable () async -> Data?
}

/// What was heard last of a source by any server.
enum LastWord: Sendable {
    /// Nothing that is still known.
    case nothing
    case source(SharedPictureHead.Source)
    /// That it cannot be had, or that each has to ask for itself.
    case failed
}

/// The right to ask the server of a source, while others wait for what it says.
struct SourceTurn: Sendable {
    /// That of what is found; `nil` when nobody could be asked for one.
    let generation: Int64?
    let mark: PurgeMark
    /// What others have, whose time is over.
    let outdated: (head: SharedHead, generation: Int64)?
}

extension Cluster {
    /// A source: as another server has it, or asked for here while the others wait.
    ///
    /// - Parameters:
    ///   - url: That of the source.
    ///   - needsBody: Whether its bytes are needed, not only what its server says of them.
    ///   - isGood: Whether what another server has is of use here.
    ///   - accept: What that is here; `nil` when it cannot be used after all.
    ///   - asking: Asks its server; also says what others may have.
    func source<Found: Sendable>(
        _ key: String, url: String, needsBody: Bool, until stopped: Ending,
        isGood: @Sendable (SharedHead) -> Bool,
        accept: @Sendable (SharedSource) async -> Found?,
        asking: @Sendable (SourceTurn) async -> (Result<Found, Failure>, TellableSource?)
    ) async -> Result<Found, Failure> {
        guard let work else {
            let alone = SourceTurn(generation: nil, mark: PurgeMark(time: 0), outdated: nil)
            return await asking(alone).0
        }
        let name = Self.name(ofSource: key)
        let outdated = Mutex<OutdatedSource?>(nil)
        let outcome: Result<Found, Failure>? = await work.value(
            for: name, marks: PurgeMarks.names(forSource: key, url: url), takingLeaseAtOnce: true,
            until: stopped,
            reading: { record, mark in
                guard let content = SharedContent(record.content) else { return nil }
                if case .failure(let failure, _) = content { return .failure(failure) }
                guard let head = content.head.flatMap({ SharedHead($0) }) else { return nil }
                guard isGood(head) else {
                    let known = OutdatedSource(head, content, generation: record.generation)
                    outdated.withLock { $0 = known }
                    return nil
                }
                let body = await body(of: content, isNeeded: needsBody)
                guard head.length == body?.count ?? head.length, body != nil || !needsBody else {
                    return nil
                }
                let source = SharedSource(
                    head: head, body: body, generation: record.generation,
                    mark: PurgeMark(time: mark))
                return await accept(source).map { .success($0) }
            },
            making: { mark, generation in
                let outdated = outdated.withLock { $0 }
                let (found, told) = await asking(
                    SourceTurn(
                        generation: generation, mark: PurgeMark(time: mark ?? 0),
                        outdated: outdated.map { ($0.head, $0.generation) }))
                if let told, let head = told.head.text {
                    return LeasedWork.Made(
                        found,
                        publication: await publication(of: told, head, after: outdated, as: name))
                }
                switch found {
                case .success: return LeasedWork.Made(found, publication: Self.elsewhere)
                case .failure(let failure):
                    return LeasedWork.Made(found, publication: publication(of: failure))
                }
            })
        return outcome ?? .failure(Failure(.clientGone, "nobody waits any longer"))
    }

    /// What others have heard of a source last, without a lease and without asking its server.
    func lastWord(of key: String, url: String) async -> LastWord {
        let found = await work?.glance(
            at: Self.name(ofSource: key), marks: PurgeMarks.names(forSource: key, url: url)
        ) { record, _ -> LastWord? in
            guard let head = SharedContent(record.content)?.head.flatMap({ SharedHead($0) }) else {
                return .failed
            }
            return .source(
                SharedPictureHead.Source(head: head, generation: record.generation))
        }
        return found?.value ?? .nothing
    }

    /// The bytes that others have: all that are at hand, those of the store when they are needed.
    private func body(of content: SharedContent, isNeeded: Bool) async -> Data? {
        switch content {
        case .bytes(_, let body): Data(buffer: body)
        // Objects of sources have the generation in their names.
        case .object(_, let name): isNeeded ? await object(name).object?.body : nil
        case .head, .elsewhere, .failure: nil
        }
    }

    /// What others get of a source: with the bytes that they have, if those were confirmed.
    private func publication(
        of told: TellableSource, _ head: Data, after outdated: OutdatedSource?, as name: String
    ) async -> LeasedWork.Publication {
        if told.isConfirmed, let outdated, outdated.validator == told.validator,
            let content = outdated.content.replacing(head: head)
        {
            return publication(of: content)
        }
        // What its server has said is all that is needed of it where its pictures are made.
        guard let body = await told.body() else { return publication(of: .head(head)) }
        return publication(of: SharedObject(body: body), head: head) { "\(name)/\($0)" }
    }
}

/// What others have of a source whose time is over.
private struct OutdatedSource: Sendable {
    let head: SharedHead
    let content: SharedContent
    let generation: Int64
    let validator: String

    init(_ head: SharedHead, _ content: SharedContent, generation: Int64) {
        self.head = head
        self.content = content
        self.generation = generation
        validator = head.validator
    }
}

extension SharedHead {
    /// Names the version of the source.
    var validator: String { RemoteSource(head: stored, key: "", size: length).validator }
}

extension SharedContent {
    /// What is known of bytes.
    var head: Data? {
        switch self {
        case .bytes(let head, _), .object(let head, _), .head(let head): head
        case .elsewhere, .failure: nil
        }
    }

    /// The same bytes of which something else is known; `nil` where there are none.
    func replacing(head: Data) -> SharedContent? {
        switch self {
        case .bytes(_, let body): .bytes(head: head, body)
        case .object(_, let name): .object(head: head, name: name)
        case .head, .elsewhere, .failure: nil
        }
    }
}
