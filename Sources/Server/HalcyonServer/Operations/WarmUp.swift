import Foundation
import HalcyonWork

/// Makes pictures before they are requested: order by order, in sequence.
///
/// Not a `WorkTable`: the pictures differ; one that a request wants at the same time is shared as any other.
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
