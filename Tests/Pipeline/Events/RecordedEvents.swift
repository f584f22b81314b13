import HalcyonTestKit

import Halcyon

extension KingfisherManager {
    /// What happens from now on to the requests of this manager, in a list whose growth can be awaited.
    func recordedEvents() -> Recorder<ImageEvent> {
        let recorder = Recorder<ImageEvent>()
        // The sequence ends with the manager.
        Task { [events] in
            for await event in events { recorder.record(event) }
        }
        return recorder
    }
}

extension [ImageEvent] {
    /// How many files have been written.
    var fileCount: Int {
        count { if case .stored(.disk) = $0.kind { true } else { false } }
    }

    /// How many requests have found nothing and wait for bytes.
    var waitingCount: Int {
        count { if case .waiting = $0.kind { true } else { false } }
    }
}
