import HalcyonTestKit
import Halcyon
import Testing

/// Who starts work, who shares it, and how urgent it is.
struct WorkLedgerTests {
    private typealias Ledger = WorkLedger<String, String, Int, String, Int>

    /// A slow and obvious model: a list of who waits for what.
    private struct Model {
        struct Place: Equatable {
            let work: Int
            let token: Int
            let caller: String
            var priority: Float

            func has(_ ticket: Ledger.Ticket) -> Bool {
                work == ticket.work && token == ticket.token
            }
        }

        var keys: [Int: String] = [:]
        var counts: [Int: Int] = [:]
        var places: [Place] = []
        var works = 0
    }

    @Test(arguments: 0..<60) func agreesWithAModelUnderRandomSchedules(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var ledger = Ledger()
        var model = Model()
        var tickets: [Ledger.Ticket] = []
        for step in 0..<300 {
            switch random.next() % 6 {
            case 0, 1, 2:
                let key = "k\(random.next() % 4)"
                let priority = Float(random.next() % 4) / 4
                tickets.append(join(step, key, priority, &ledger, &model))
            case 3:
                guard let ticket = tickets.randomElement(using: &random) else { continue }
                leave(ticket, &ledger, &model)
            case 4:
                guard let ticket = tickets.randomElement(using: &random) else { continue }
                let priority = Float(random.next() % 4) / 4
                ledger.setPriority(priority, of: ticket)
                for index in model.places.indices where model.places[index].has(ticket) {
                    model.places[index].priority = priority
                }
            default:
                guard let id = model.keys.keys.sorted().randomElement(using: &random) else {
                    continue
                }
                let expected = model.places.filter { $0.work == id }.map(\.caller)
                #expect(ledger.finish(id, keeping: nil) == expected)
                #expect(ledger.finish(id, keeping: nil) == [])
                model.places.removeAll { $0.work == id }
                model.keys[id] = nil
            }
            #expect(
                ledger.tickets.map(\.1)
                    == model.places.map { .init(work: $0.work, token: $0.token) }
                    .sorted { ($0.work, $0.token) < ($1.work, $1.token) })
            for id in model.keys.keys {
                let places = model.places.filter { $0.work == id }
                #expect(ledger.callers(of: id) == places.map(\.caller))
                #expect(ledger.urgency(of: id)?.1 == places.map(\.priority).max())
            }
        }
    }

    private func join(
        _ step: Int, _ key: String, _ priority: Float, _ ledger: inout Ledger,
        _ model: inout Model
    ) -> Ledger.Ticket {
        let join = ledger.join("w\(step)", for: key, priority: priority, makeJob: { $0 })
        let running = model.keys.first { $0.value == key }?.key
        let work = running ?? model.works
        if running == nil {
            model.works += 1
            model.keys[work] = key
        }
        let token = model.counts[work, default: 0]
        model.counts[work] = token + 1
        model.places.append(.init(work: work, token: token, caller: "w\(step)", priority: priority))
        if case .start = join { #expect(running == nil) } else { #expect(running != nil) }
        #expect(join.ticket == .init(work: work, token: token))
        return join.ticket
    }

    private func leave(_ ticket: Ledger.Ticket, _ ledger: inout Ledger, _ model: inout Model) {
        let left = model.places.firstIndex { $0.has(ticket) }.map { model.places.remove(at: $0) }
        let others = model.places.contains { $0.work == ticket.work }
        switch ledger.leave(ticket) {
        case .none: #expect(left == nil)
        case .keep(_, let caller): #expect(left?.caller == caller && others)
        case .stop(_, let caller):
            #expect(left?.caller == caller && !others)
            model.keys[ticket.work] = nil
        }
    }
}

extension WorkLedger.Join {
    /// The place taken; a number nobody has when the work has been done.
    var ticket: WorkLedger.Ticket {
        switch self {
        case .start(_, let ticket), .share(_, let ticket): ticket
        case .done: WorkLedger.Ticket(work: -1, token: -1)
        }
    }
}
