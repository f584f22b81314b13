import HalcyonTestKit
import Testing

@testable import Halcyon

struct CoalescerTests {
    private typealias Table = Coalescer<String, Int, String>

    @Test func theFirstWaiterStartsATransferAndTheNextSharesIt() throws {
        var table = Table()
        guard case .start(let first, let a) = table.join("a", for: "k", makeTransfer: { $0 }),
            case .share(let second, let b) = table.join("b", for: "k", makeTransfer: { $0 }),
            case .start(let third, let c) = table.join("c", for: "other", makeTransfer: { $0 })
        else {
            Issue.record("a wrong decision")
            return
        }
        #expect(first == second && first != third)
        #expect([a.token, b.token, c.token] == [0, 1, 0])
        #expect(table.waiters(of: a.transfer) == ["a", "b"])
    }

    @Test func cancelsTheTransferOnlyWhenTheLastWaiterLeaves() {
        var table = Table()
        let a = table.join("a", for: "k", makeTransfer: { $0 }).ticket
        let b = table.join("b", for: "k", makeTransfer: { $0 }).ticket
        guard case .keep(_, "a") = table.leave(a), case .none = table.leave(a),
            case .cancel(_, "b") = table.leave(b)
        else {
            Issue.record("a wrong decision")
            return
        }
        guard case .start = table.join("c", for: "k", makeTransfer: { $0 }) else {
            Issue.record("a cancelled transfer was joined")
            return
        }
    }

    @Test func nobodyJoinsAFinishedTransfer() {
        var table = Table()
        let a = table.join("a", for: "k", makeTransfer: { $0 }).ticket
        _ = table.join("b", for: "k", makeTransfer: { $0 })
        #expect(table.finish(a.transfer) == ["a", "b"])
        #expect(table.finish(a.transfer) == [])
        guard case .none = table.leave(a),
            case .start = table.join("c", for: "k", makeTransfer: { $0 })
        else {
            Issue.record("a wrong decision")
            return
        }
    }

    /// A slow and obvious model: a list of who waits for what.
    private struct Model {
        struct Place: Equatable {
            let transfer: Int
            let token: Int
            let waiter: String
        }

        var keys: [Int: String] = [:]
        var counts: [Int: Int] = [:]
        var places: [Place] = []
        var transfers = 0
    }

    @Test(arguments: 0..<40) func agreesWithAModelUnderRandomSchedules(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var table = Table()
        var model = Model()
        var tickets: [Table.Ticket] = []
        for step in 0..<300 {
            switch random.next() % 5 {
            case 0, 1, 2:
                let key = "k\(random.next() % 4)"
                let ticket = join(step, key, &table, &model)
                tickets.append(ticket)
            case 3:
                guard let ticket = tickets.randomElement(using: &random) else { continue }
                leave(ticket, &table, &model)
            default:
                guard let id = model.keys.keys.sorted().randomElement(using: &random) else {
                    continue
                }
                let expected = model.places.filter { $0.transfer == id }.map(\.waiter)
                #expect(table.finish(id) == expected)
                model.places.removeAll { $0.transfer == id }
                model.keys[id] = nil
            }
            #expect(
                table.tickets.map(\.1)
                    == model.places.map { .init(transfer: $0.transfer, token: $0.token) }
                    .sorted { ($0.transfer, $0.token) < ($1.transfer, $1.token) })
        }
    }

    private func join(_ step: Int, _ key: String, _ table: inout Table, _ model: inout Model)
        -> Table.Ticket
    {
        let join = table.join("w\(step)", for: key, makeTransfer: { $0 })
        let running = model.keys.first { $0.value == key }?.key
        let transfer = running ?? model.transfers
        if running == nil {
            model.transfers += 1
            model.keys[transfer] = key
        }
        let token = model.counts[transfer, default: 0]
        model.counts[transfer] = token + 1
        model.places.append(.init(transfer: transfer, token: token, waiter: "w\(step)"))
        if case .start = join { #expect(running == nil) } else { #expect(running != nil) }
        #expect(join.ticket == .init(transfer: transfer, token: token))
        return join.ticket
    }

    private func leave(_ ticket: Table.Ticket, _ table: inout Table, _ model: inout Model) {
        let left = model.places.firstIndex {
            $0.transfer == ticket.transfer && $0.token == ticket.token
        }.map { model.places.remove(at: $0) }
        let others = model.places.contains { $0.transfer == ticket.transfer }
        switch table.leave(ticket) {
        case .none: #expect(left == nil)
        case .keep(_, let waiter): #expect(left?.waiter == waiter && others)
        case .cancel(_, let waiter):
            #expect(left?.waiter == waiter && !others)
            model.keys[ticket.transfer] = nil
        }
    }
}

extension Coalescer.Join {
    fileprivate var ticket: Coalescer.Ticket {
        switch self {
        case .start(_, let ticket), .share(_, let ticket): ticket
        }
    }
}
