package import HalcyonWork
package import NIOCore

/// Something that is done at a time, unless it is cancelled before.
package enum Alarm: Sendable {
    case scheduled(Scheduled<Void>)
    case sleeping(Task<Void, Never>)

    package func cancel() {
        switch self {
        case .scheduled(let timer): timer.cancel()
        case .sleeping(let task): task.cancel()
        }
    }
}

extension TimeSource {
    /// Calls `work` at `deadline`, by the system's clocks on the thread of `eventLoop`: a sleeping task that is
    /// cancelled leaves its timer behind until that is over, which would be too many for one in each request.
    package func alarm(
        at deadline: ContinuousClock.Instant, on eventLoop: any EventLoop,
        _ work: @escaping @Sendable () -> Void
    ) -> Alarm {
        if isSystem {
            let due = eventLoop.now + TimeAmount(deadline - now)
            return .scheduled(eventLoop.scheduleTask(deadline: due, work))
        }
        return .sleeping(
            Task {
                guard (try? await sleep(until: deadline)) != nil else { return }
                work()
            })
    }
}

extension EventLoop {
    /// Calls `work` after `time` by this loop's clock, which is that of the handlers of its channels. On the loop's
    /// thread, as `work` is.
    @discardableResult
    package func after(_ time: TimeAmount, _ work: @escaping () -> Void) -> Scheduled<Void> {
        assumeIsolated().scheduleTask(deadline: now + time, work)
    }
}

extension OneShot {
    func value(
        until deadline: ContinuousClock.Instant, by time: TimeSource, on eventLoop: any EventLoop,
        else fallback: Value
    ) async -> Value {
        if isGiven { return await value }
        let place = OneShot<Value>()
        whenGiven { place.give($0) }
        let alarm = time.alarm(at: deadline, on: eventLoop) { place.give(fallback) }
        let value = await place.value
        alarm.cancel()
        return value
    }
}
