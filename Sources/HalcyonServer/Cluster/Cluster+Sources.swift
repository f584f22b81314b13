import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerPlans
import HalcyonWork
import NIOCore
import NIOFoundationCompat

/// A source as servers tell each other of it.
struct SharedSource: Sendable {
    let stored: StoredResponse
    /// Bytes of the body.
    let length: Int
    /// `nil` where only what its server has said is shared.
    let body: Data?
}

extension Cluster {
    /// A source: as another server has it, or asked for here while the others wait.
    ///
    /// - Parameters:
    ///   - url: That of the source.
    ///   - accept: What a source of another server is here; `nil` when it is of no use. Told its generation.
    ///   - asking: Asks its server. Told the generation of what it finds; `nil` when nobody could be asked for one.
    ///     Its source is given, with how long it is good, when others may have it.
    func source<Found: Sendable>(
        _ key: String, url: String, until stopped: Ending,
        accept: @Sendable (SharedSource, _ generation: Int64) async -> Found?,
        asking:
            @Sendable (_ generation: Int64?) async -> (
                found: Result<Found, Failure>, shared: (source: SharedSource, lifetime: Duration)?
            )
    ) async -> Result<Found, Failure> {
        guard let work else { return await asking(nil).found }
        let name = Self.name(ofSource: key)
        let outcome: Result<Found, Failure>? = await work.value(
            for: name, marks: PurgeMarks.names(forSource: key, url: url), takingLeaseAtOnce: true,
            until: stopped,
            reading: { record, _ in
                // Objects of sources have the generation in their names.
                switch SharedContent(record.content) {
                case .bytes(let head, let body):
                    guard let source = SharedSource(head, Data(buffer: body)) else { return nil }
                    return await accept(source, record.generation).map { .success($0) }
                case .object(let head, let name):
                    guard let object = await object(name).object,
                        let source = SharedSource(head, object.body)
                    else { return nil }
                    return await accept(source, record.generation).map { .success($0) }
                case .head(let head):
                    guard let source = SharedSource(head, nil) else { return nil }
                    return await accept(source, record.generation).map { .success($0) }
                case .failure(let failure): return .failure(failure)
                case .elsewhere, nil: return nil
                }
            },
            making: { _, generation in
                let (found, shared) = await asking(generation)
                if let (source, lifetime) = shared,
                    let head = SharedHead(source.stored, length: source.length).text
                {
                    return LeasedWork.Made(
                        found,
                        publication: source.body.map { body in
                            publication(
                                of: SharedObject(body: body), head: head, lifetime: lifetime
                            ) { "\(name)/\($0)" }
                        } ?? publication(ofHead: head, lifetime: lifetime))
                }
                switch found {
                case .success: return LeasedWork.Made(found, publication: Self.elsewhere)
                case .failure(let failure):
                    return LeasedWork.Made(found, publication: publication(of: failure))
                }
            })
        return outcome ?? .failure(Failure(.clientGone, "nobody waits any longer"))
    }
}

extension SharedSource {
    /// `nil` for what is none, or not whole.
    fileprivate init?(_ head: Data, _ body: Data?) {
        guard let known = SharedHead(head), known.length == body?.count ?? known.length else {
            return nil
        }
        self.init(stored: known.stored, length: known.length, body: body)
    }
}
