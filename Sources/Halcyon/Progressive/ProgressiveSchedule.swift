/// Decides which scans of a progressive JPEG are shown to whom, and when.
///
/// A pure value; times are durations since any moment.
struct ProgressiveSchedule<Viewer: Hashable> {
    /// How a viewer wants to be shown the scans.
    struct Wish {
        let viewer: Viewer
        /// Each scan, instead of always the latest one.
        let everyScan: Bool
        /// The least time between two of them.
        let interval: Duration
    }

    /// What is to be done.
    enum Step: Equatable {
        /// Nothing before more bytes come.
        case nothing
        /// To ask again after a time.
        case wait(Duration)
        /// To decode up to the end of a scan, counted from 1, and show that.
        case show(scan: Int, to: [Viewer])
    }

    private struct Shown: Sendable {
        let scan: Int
        let time: Duration
    }

    private var shown: [Viewer: Shown] = [:]

    init() {}

    /// What is to be done when `complete` scans have arrived and `decoded` of them are decoded.
    ///
    /// Decoding cannot go back: as long as anybody wants each scan, everybody waits until that one may
    /// be shown the next.
    func step(for wishes: [Wish], complete: Int, decoded: Int, at time: Duration) -> Step {
        let everyScan = wishes.contains { $0.everyScan }
        let scan = everyScan ? min(complete, decoded + 1) : complete
        let open = wishes.filter { (shown[$0.viewer]?.scan ?? 0) < scan }
        guard !open.isEmpty else { return .nothing }

        if let longest = open.filter({ $0.everyScan }).map({ wait(of: $0, at: time) }).max(),
            longest > .zero
        {
            return .wait(longest)
        }
        let due = open.filter { wait(of: $0, at: time) <= .zero }
        if due.isEmpty, let shortest = open.map({ wait(of: $0, at: time) }).min() {
            return .wait(shortest)
        }
        return .show(scan: scan, to: due.map(\.viewer))
    }

    /// Notes that a viewer has been shown a scan.
    mutating func note(_ scan: Int, shownTo viewer: Viewer, at time: Duration) {
        shown[viewer] = Shown(scan: scan, time: time)
    }

    private func wait(of wish: Wish, at time: Duration) -> Duration {
        shown[wish.viewer].map { $0.time + wish.interval - time } ?? .zero
    }
}
