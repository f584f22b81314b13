import HalcyonTestKit
import Testing

@testable import Halcyon

struct HostAdmissionTests {
    @Test func aMultiplexingHostAdmitsMany() {
        var admission = HostAdmission(limit: 1)
        for request in 0..<150 { _ = admission.enter(request, host: "a", priority: 0.5) }
        let admitted = admission.multiplex("a")
        #expect(admitted == Array(1..<HostAdmission.multiplexedLimit))
        let again = admission.multiplex("a")
        #expect(again == [])
        let next = admission.leave("a")
        #expect(next == [100])
    }

    @Test func aCancelledTaskLeavesTheLine() async throws {
        let gate = HostGate(limit: 1)
        try await gate.enter("a", priority: TransferPriority())
        let cancelled = Task { try await gate.enter("a", priority: TransferPriority()) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.leave("a")
        try await gate.enter("a", priority: TransferPriority())
    }

    @Test func ofTwoChangesOfAPriorityTheLaterOneCountsInWhateverOrderTheyCome() {
        let priority = TransferPriority()
        let told = Recorder<Float>()
        priority.observe { told.record(priority.value) }
        priority.set(0.9, change: 2)
        priority.set(0.1, change: 1)
        priority.set(0.3, change: 3)
        #expect(told.events == [0.9, 0.3] && priority.value == 0.3)
    }

    /// Who is where, by the plainest means.
    private struct Model {
        struct Waiting {
            let request: Int
            let host: String
            var priority: Float
        }

        /// In the order they came.
        var line: [Waiting] = []
        var running: [Int: String] = [:]

        mutating func admit(to host: String, limit: Int) -> [Int] {
            var admitted: [Int] = []
            while running.values.count(where: { $0 == host }) < limit,
                let highest = line.filter({ $0.host == host }).map(\.priority).max(),
                let index = line.firstIndex(where: { $0.host == host && $0.priority == highest })
            {
                let request = line.remove(at: index).request
                running[request] = host
                admitted.append(request)
            }
            return admitted
        }
    }

    @Test(arguments: 0..<40) func agreesWithAModelUnderRandomSchedules(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var admission = HostAdmission(limit: 2)
        var model = Model()
        for request in 0..<400 {
            let host = Bool.random(using: &random) ? "a" : "b"
            let priority = Float(Int.random(in: 0...4, using: &random)) / 4
            switch random.next() % 8 {
            case 0..<4:
                let isAdmitted = admission.enter(request, host: host, priority: priority)
                model.line.append(.init(request: request, host: host, priority: priority))
                #expect(isAdmitted == model.admit(to: host, limit: 2).contains(request))
            case 4, 5:
                guard let done = model.running.min(by: { $0.key < $1.key }) else { continue }
                model.running[done.key] = nil
                let admitted = admission.leave(done.value)
                #expect(admitted == model.admit(to: done.value, limit: 2))
            case 6:
                guard let index = model.line.indices.randomElement(using: &random) else { continue }
                model.line[index].priority = priority
                admission.reprioritize(
                    model.line[index].request, host: model.line[index].host, priority: priority)
            default:
                guard let index = model.line.indices.randomElement(using: &random) else { continue }
                let left = model.line.remove(at: index)
                let wasInLine = admission.abandon(left.request, host: left.host)
                let isInLine = admission.abandon(left.request, host: left.host)
                #expect(wasInLine && !isInLine)
                // Not in line any more.
                admission.reprioritize(left.request, host: left.host, priority: 1)
            }
        }
    }
}
