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
        _ name: String = "a", marks: [String] = [], until stopped: OneShot<Bool> = OneShot(),
        isPublishable: Bool = true, _ make: @escaping @Sendable () async -> String
    ) async -> String? {
        await work.value(
            for: name, marks: marks, until: stopped,
            reading: { text, _ in String(buffer: text.content) },
            making: { _, _ in
                let text = await make()
                return .init(
                    text,
                    publication: isPublishable
                        ? .init(lifetime: .seconds(60)) { _ in ByteBuffer(string: text) } : nil)
            })
    }

    func waitFor(_ event: LeasedWork.Event) async {
        await events.wait { $0.contains(event) }
    }
}
