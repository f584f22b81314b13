import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// Pictures that are made before anybody asks for them: orders, one after the other.
final class WarmUp: Sendable {
    /// How far an order has got.
    struct Progress: Codable, Sendable, Hashable {
        let id: String
        let total: Int
        var done = 0
        var failed = 0
        /// Some of those that failed, with the code of the failure.
        var failures: [String: String] = [:]
        var isFinished = false
    }

    /// One picture to be made.
    struct Item: Sendable {
        let target: String
        let accept: String
    }

    private struct State {
        var orders: [(id: String, items: [Item])] = []
        var progress: [String: Progress] = [:]
        /// The ids of all that is in `progress`, the oldest first.
        var ids: [String] = []
        var isWorking = false
    }

    /// How many orders are known after their end, and how many failures of each.
    private static let memory = 100
    /// The most orders that wait.
    private static let queue = 20

    private let state = Mutex(State())

    /// Takes an order, and begins to work if nothing is worked on.
    ///
    /// - Parameter work: Makes one picture; returns the code of what went wrong.
    /// - Returns: What its progress is told by; `nil` when too many orders wait.
    func take(_ items: [Item], work: @escaping @Sendable (Item) async -> String?) -> String? {
        let id = UUID().uuidString
        let (isTaken, begins) = state.withLock { state in
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
        state.withLock { $0.progress[String(id)] }
    }

    private func run(_ work: @Sendable (Item) async -> String?) async {
        while let order = next() {
            for item in order.items {
                let code = await work(item)
                note(code, item, order.id)
            }
            state.withLock { $0.progress[order.id]?.isFinished = true }
        }
    }

    private func next() -> (id: String, items: [Item])? {
        state.withLock { state in
            guard !state.orders.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.orders.removeFirst()
        }
    }

    private func note(_ code: String?, _ item: Item, _ id: String) {
        state.withLock { state in
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

/// What is to be made, as it is ordered.
struct WarmOrder: Decodable {
    let urls: [String]
    /// What clients will accept, of each of which a picture is made; without it what anybody takes.
    var accept: [String]?
}

extension ImageServer {
    /// The most URLs of an order.
    private static let mostURLs = 10_000

    /// Has pictures made one by one, when nobody else waits for something.
    ///
    /// - Returns: The id of the job.
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

    /// Makes one picture; returns the code of what went wrong.
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
            // A picture that stands for another one that could not be had is a failure, too.
            if let failure = notes.failure { return failure.kind.code }
            return answer.status < 400 ? nil : "\(answer.status)"
        } catch {
            return error.kind.code
        }
    }

    /// Whether requests wait, or take all there is.
    private var isBusy: Bool {
        [makers.gate, makers.downloads].contains { gate in
            let usage = gate.usage
            return usage.waiting > 0 || usage.passing >= usage.limit
        }
    }
}
