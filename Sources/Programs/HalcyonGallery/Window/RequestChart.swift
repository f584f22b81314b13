import Halcyon
import HalcyonWork

/// The stages of the latest requests, as bars to one scale; a value type, so that tests can check
/// it.
///
/// Images from memory have no bar, since they need no waiting.
struct RequestChart {
    struct Part: Equatable {
        let stage: ImageStage
        let begin: Double
        let end: Double
    }

    fileprivate struct Bar {
        let request: ImageEvent.RequestID
        var trail: RequestTrail
        var stages: [(stage: ImageStage, from: RequestTrail.Instant, to: RequestTrail.Instant)] = []
        var end: RequestTrail.Instant
    }

    /// The maximum number of bars; later requests replace the oldest.
    let limit: Int
    private var latest: [Bar] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// The bars, the oldest request first.
    var bars: [[Part]] {
        let longest = longest.inSeconds
        return latest.map { bar in
            func place(_ time: RequestTrail.Instant) -> Double {
                guard longest > 0 else { return 0 }
                return min(1, max(0, (time - bar.trail.start).inSeconds / longest))
            }
            return bar.stages.map {
                Part(stage: $0.stage, begin: place($0.from), end: place($0.to))
            }
        }
    }

    var longest: Duration { latest.map { $0.end - $0.trail.start }.max() ?? .zero }

    mutating func take(_ event: ImageEvent) {
        if case .started = event.kind {
            let trail = RequestTrail(start: event.time)
            latest.append(Bar(request: event.request, trail: trail, end: event.time))
            if latest.count > limit { latest.removeFirst() }
            return
        }
        guard let index = latest.lastIndex(where: { $0.request == event.request }) else { return }
        if case .succeeded(.memory) = event.kind {
            latest.remove(at: index)
            return
        }
        for step in latest[index].trail.follow(event.kind, at: event.time) {
            switch step {
            case .stage(let stage, let from, let to): latest[index].add(stage, from, to)
            case .fetched(_, _, let from, let to), .unfetched(_, let from, let to):
                latest[index].add(.fetch, from, to)
            case .retried, .revalidated, .ended: break
            }
        }
    }
}

extension RequestChart.Bar {
    fileprivate mutating func add(
        _ stage: ImageStage, _ from: RequestTrail.Instant, _ to: RequestTrail.Instant
    ) {
        stages.append((stage, from, to))
        end = max(end, to)
    }
}
