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
    let body: Data
}

extension Cluster {
    /// A source: as another server has it, or asked for here while the others wait.
    ///
    /// - Parameters:
    ///   - url: That of the source.
    ///   - accept: What a source of another server is here; `nil` when it is of no use.
    ///   - asking: Asks its server. Given, with how long it is good, when others may have it.
    func source<Found: Sendable>(
        _ key: String, url: String, until stopped: Ending,
        accept: @Sendable (SharedSource) async -> Found?,
        asking:
            @Sendable () async -> (
                found: Result<Found, Failure>, shared: (source: SharedSource, lifetime: Duration)?
            )
    ) async -> Result<Found, Failure> {
        guard let work else { return await asking().found }
        let name = Self.name(ofSource: key)
        let outcome: Result<Found, Failure>? = await work.value(
            for: name, marks: PurgeMarks.names(forSource: key, url: url), until: stopped,
            reading: { content, _ in
                // Objects of sources have the generation in their names.
                switch SharedContent(content) {
                case .bytes(let head, let body):
                    guard let source = SharedSource(head, Data(buffer: body)) else { return nil }
                    return await accept(source).map { .success($0) }
                case .object(let head, let name):
                    guard let object = await object(name),
                        let source = SharedSource(head, object.body)
                    else { return nil }
                    return await accept(source).map { .success($0) }
                case .failure(let failure): return .failure(failure)
                case .elsewhere, nil: return nil
                }
            },
            making: { _ in
                let (found, shared) = await asking()
                if let shared, let head = try? JSONEncoder().encode(SharedHead(shared.source)) {
                    return LeasedWork.Made(
                        found,
                        publication: publication(
                            of: SharedObject(body: shared.source.body), head: head,
                            lifetime: shared.lifetime
                        ) { "\(name)/\($0)" })
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
    /// `nil` for what is none.
    fileprivate init?(_ head: Data, _ body: Data) {
        guard let known = try? JSONDecoder().decode(SharedHead.self, from: head),
            known.length == body.count
        else { return nil }
        self.init(stored: known.response, body: body)
    }
}

/// A stored response in a record.
private struct SharedHead: Codable {
    let url: URL
    let status: Int
    let fields: [[String]]
    let requested: Date
    let received: Date
    let length: Int

    init(_ source: SharedSource) {
        url = source.stored.url
        status = source.stored.status
        fields = source.stored.fields.lines.map { [$0.name, $0.value] }
        requested = source.stored.requested
        received = source.stored.received
        length = source.body.count
    }

    var response: StoredResponse {
        StoredResponse(
            url: url, status: status,
            fields: HTTPFields(
                fields.compactMap { line in
                    line.count == 2 ? HTTPFields.Line(name: line[0], value: line[1]) : nil
                }), requested: requested, received: received)
    }
}
