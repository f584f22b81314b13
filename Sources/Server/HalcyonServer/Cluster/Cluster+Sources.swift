import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOFoundationCompat
import Synchronization

struct SharedSource: Sendable {
    let head: SharedHead
    /// `nil` where only the head is shared or wanted.
    let body: Data?
    let generation: Int64
    let mark: PurgeMark
}

/// The time of the latest purge that concerns a source, on the clock of generations; 0 without any.
struct PurgeMark: Sendable {
    let time: Int64

    /// Whether a generation is from before the purge, which this server may not have heard of yet.
    func isAfter(_ generation: Int64?) -> Bool { time > 0 && generation ?? 0 <= time }
}

/// A source to be published after its server was asked.
struct TellableSource: Sendable {
    let head: SharedHead
    /// Names the version.
    let validator: String
    /// Whether the source's server has confirmed the known version.
    let isConfirmed: Bool
    /// Reads the bytes; called only where others do not have them.
    let body: @Sendable () async -> Data?
}

/// The state of a source that any server published last.
enum LastWord: Sendable {
    /// No state is known any more.
    case nothing
    case source(SharedPictureHead.Source)
    /// The source cannot be fetched, or each server has to ask for itself.
    case failed
}

/// The right to ask a source's server, while other servers wait for the answer.
struct SourceTurn: Sendable {
    /// The generation of the result; `nil` when none could be obtained.
    let generation: Int64?
    let mark: PurgeMark
    /// The version that others have and that is no longer fresh.
    let outdated: (head: SharedHead, generation: Int64)?
}

extension Cluster {
    /// Returns a source: another server's, or one fetched here while the others wait.
    ///
    /// - Parameters:
    ///   - needsBody: Whether the bytes are needed, not only the head.
    ///   - isGood: Whether another server's version is usable here.
    ///   - accept: Converts another server's source; `nil` when it cannot be used after all.
    ///   - asking: Asks the source's server; also returns the source to publish.
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
                    let known = OutdatedSource(
                        head: head, content: content, generation: record.generation)
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

    /// Returns the last published state of a source, without a lease and without asking its server.
    func lastWord(of key: String, url: String) async -> LastWord {
        let found = await work?.glance(
            at: Self.name(ofSource: key), marks: PurgeMarks.names(forSource: key, url: url)
        ) { record, _ -> LastWord? in
            guard let head = SharedContent(record.content)?.head.flatMap({ SharedHead($0) }) else {
                return .failed
            }
            return .source(SharedPictureHead.Source(head: head, generation: record.generation))
        }
        return found?.value ?? .nothing
    }

    /// Returns the bytes that others have: inline ones always, those of the store when needed.
    private func body(of content: SharedContent, isNeeded: Bool) async -> Data? {
        switch content {
        case .bytes(_, let body): Data(buffer: body)
        // Objects of sources have the generation in their names.
        case .object(_, let name): isNeeded ? await object(name).object?.body : nil
        case .head, .elsewhere, .failure: nil
        }
    }

    /// Returns the publication of a source: with the bytes that others have, if confirmed.
    private func publication(
        of told: TellableSource, _ head: Data, after outdated: OutdatedSource?, as name: String
    ) async -> LeasedWork.Publication {
        if told.isConfirmed, let outdated, outdated.head.validator == told.validator,
            let content = outdated.content.replacing(head: head)
        {
            return publication(of: content)
        }
        // What its server has said is all that is needed of it where its pictures are made.
        guard let body = await told.body() else { return publication(of: .head(head)) }
        return publication(of: SharedObject(body: body), head: head) { "\(name)/\($0)" }
    }
}

private struct OutdatedSource: Sendable {
    let head: SharedHead
    let content: SharedContent
    let generation: Int64
}

extension SharedHead {
    var validator: String { RemoteSource(self, key: "", sharedGeneration: nil).validator }
}

extension SharedContent {
    var head: Data? {
        switch self {
        case .bytes(let head, _), .object(let head, _), .head(let head): head
        case .elsewhere, .failure: nil
        }
    }

    /// Returns the same bytes with another head; `nil` where there are none.
    func replacing(head: Data) -> SharedContent? {
        switch self {
        case .bytes(_, let body): .bytes(head: head, body)
        case .object(_, let name): .object(head: head, name: name)
        case .head, .elsewhere, .failure: nil
        }
    }
}
