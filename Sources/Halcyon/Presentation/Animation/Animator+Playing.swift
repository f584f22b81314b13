extension Animator {
    /// Plays on `clock` until the last run is over or the task is cancelled.
    ///
    /// Returns at once for a still image. Sleeps until the next frame is due, and longer only if it is
    /// not decoded by then. Nobody else should move the time meanwhile.
    public func play(on clock: some Clock<Duration> = ContinuousClock()) async {
        await waitForNextFrame()
        tick(elapsed: .zero)
        var last = clock.now
        while !Task.isCancelled, let pause = timeToNextEvent {
            if pause > .zero {
                do {
                    try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
                } catch {
                    // Clocks throw when the task is cancelled, which ends the playing.
                    return
                }
            } else {
                await waitForNextFrame()
                // The frame may have been purged meanwhile; the tick has it decoded again.
                await Task.yield()
            }
            let now = clock.now
            tick(elapsed: last.duration(to: now))
            last = now
        }
    }
}
