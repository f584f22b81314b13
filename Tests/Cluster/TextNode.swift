import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore

/// One of several nodes, which makes texts.
final class TextNode: Sendable {
    let work: LeasedWork
    let events = Recorder<LeasedWork.Event>()

    init(_ store: any LeaseStore, lease: Duration, time: TimeSource) {
        let events = events
        work = LeasedWork(store, duration: lease, time: time) { events.record($0) }
    }

    func text(
        _ name: String = "a", marks: [String] = [], after glance: LeasedWork.EmptyGlance? = nil,
        takingLeaseAtOnce: Bool = false, until stopped: OneShot<Bool> = OneShot(),
        isPublishable: Bool = true, _ make: @escaping @Sendable () async -> String
    ) async -> String? {
        await work.value(
            for: name, marks: marks, after: glance, takingLeaseAtOnce: takingLeaseAtOnce,
            until: stopped, reading: { text, _ in String(buffer: text.content) },
            making: { _, _ in
                let text = await make()
                return .init(
                    text,
                    publication: isPublishable
                        ? .init(lifetime: .seconds(60)) { _ in ByteBuffer(string: text) } : nil)
            })
    }

    /// Begins to make a text, and is held up in that.
    func begin(
        _ text: String, marks: [String] = [], takingLeaseAtOnce: Bool = false,
        isPublishable: Bool = true
    ) async -> UnfinishedText {
        let gate = Gate()
        let task = Task {
            await self.text(
                marks: marks, takingLeaseAtOnce: takingLeaseAtOnce, isPublishable: isPublishable
            ) {
                try? await gate.wait()
                return text
            }
        }
        await gate.waitForWaiters()
        return UnfinishedText(gate: gate, task: task)
    }

    func waitFor(_ event: LeasedWork.Event) async { await events.wait { $0.contains(event) } }
}

/// A text that a node has begun to make.
struct UnfinishedText {
    fileprivate let gate: Gate
    fileprivate let task: Task<String?, Never>

    /// Lets the node finish it.
    func finish() async -> String? {
        gate.open()
        return await task.value
    }
}
