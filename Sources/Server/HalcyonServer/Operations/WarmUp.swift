import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// Makes pictures before they are requested: order by order, in sequence.
final class WarmUp: Sendable {
    struct Progress: Codable, Sendable, Hashable {
        let id: String
        let total: Int
        var done = 0
        var failed = 0
        /// Targets of failed pictures with their failure codes, not necessarily all.
        var failures: [String: String] = [:]
        var isFinished = false
    }

    struct Item: Sendable {
        let target: String
        let accept: String
    }

    private struct State {
        var orders: [(id: String, items: [Item])] = []
        var progress: [String: Progress] = [:]
        /// The ids of all entries in `progress`, the oldest first.
        var ids: [String] = []
        var isWorking = false
    }

    /// The number of finished orders that are remembered, and of failures in each.
    private static let memory = 100
    /// The maximum number of waiting orders.
    private static let queue = 20

    private let state = Observed(State())

    /// Accepts an order, and starts working unless work is going on.
    ///
    /// - Parameter work: Makes one picture; returns the code of its failure.
    /// - Returns: The id for ``progress(of:)``; `nil` when too many orders wait.
    func take(_ items: [Item], work: @escaping @Sendable (Item) async -> String?) -> String? {
        let id = UUID().uuidString
        let (isTaken, begins) = state.update { state in
            guard state.orders.count < Self.queue else { return (false, false) }
            state.orders.append((id, items))
            state.progress[id] = Progress(id: id, total: items.count)
            state.ids.append(id)
            while state.ids.count > Self.memory + Self.queue {
                state.progress[state.ids.removeFirst()] = nil
            }
            defer { state.isWorking = true }
            return (true, !state.isWorking)
        }
        if begins { Task(priority: .low) { await self.run(work) } }
        return isTaken ? id : nil
    }

    func progress(of id: some StringProtocol) -> Progress? {
        state.read { $0.progress[String(id)] }
    }

    /// Waits until an order is finished, or no longer remembered.
    func wait(untilFinished id: String) async {
        await state.wait { $0.progress[id]?.isFinished ?? true }
    }

    private func run(_ work: @Sendable (Item) async -> String?) async {
        while let order = next() {
            for item in order.items {
                let code = await work(item)
                note(code, item, order.id)
            }
            state.update { $0.progress[order.id]?.isFinished = true }
        }
    }

    private func next() -> (id: String, items: [Item])? {
        state.update { state in
            guard !state.orders.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.orders.removeFirst()
        }
    }

    private func note(_ code: String?, _ item: Item, _ id: String) {
        state.update { state in
            guard let code else {
                state.progress[id]?.done += 1
                return
            }
            state.progress[id]?.failed += 1
            if state.progress[id]?.failures.count ?? 0 < Self.memory {
                state.progress[id]?.failures[item.target] = code
            }
        }
    }
}

struct WarmOrder: Decodable {
    let urls: [String]
    /// The `Accept` fields, for each of which a picture is made; `*/*` without it.
    var accept: [String]?
}

extension ImageServer {
    /// The maximum number of URLs in an order.
    private static let mostURLs = 10_000

    /// Makes pictures one by one, while no other requests wait; returns the id of the job.
    func warm(_ order: WarmOrder) throws(Failure) -> String {
        let accepts = order.accept ?? ["*/*"]
        guard (1...Self.mostURLs).contains(order.urls.count), (1...20).contains(accepts.count)
        else {
            throw Failure(
                .badRequest, "An order has 1 to \(Self.mostURLs) urls, and accept up to 20 texts")
        }
        let items = order.urls.flatMap { url in
            accepts.map { WarmUp.Item(target: url, accept: $0) }
        }
        let id = warming.take(items) { [weak self] item in
            guard let self else { return ServerFailure.draining.code }
            return await self.make(item)
        }
        guard let id else { throw Failure(.busy, "Too many orders wait") }
        return id
    }

    /// Makes one picture; returns the code of its failure.
    private func make(_ item: WarmUp.Item) async -> String? {
        while isBusy, currentState == .ready {
            do {
                try await time.sleep(for: .milliseconds(20))
            } catch {
                return ServerFailure.clientGone.code
            }
        }
        guard currentState == .ready else { return ServerFailure.draining.code }
        var fields: HTTPFields = ["Accept": item.accept]
        if let secret = configuration.secret { fields.append("Authorization", "Bearer \(secret)") }
        let request = ServerRequest(
            method: "GET", target: item.target, fields: fields, peer: nil, start: time.now)
        let end = begin(request.ending)
        defer {
            end()
            request.ending.give(.clientGone)
        }
        var notes = AnswerNotes()
        do throws(Failure) {
            let answer = try await route(request, &notes)
            if notes.route == "other" { return ServerFailure.notFound.code }
            // A fallback image counts as a failure, too.
            if let failure = notes.failure { return failure.kind.code }
            return answer.status < 400 ? nil : "\(answer.status)"
        } catch {
            return error.kind.code
        }
    }

    /// Whether requests wait, or all places are taken.
    private var isBusy: Bool {
        [makers.gate, makers.downloads].contains { gate in
            let usage = gate.usage
            return usage.waiting > 0 || usage.passing >= usage.limit
        }
    }
}
