import CGtk4
import Foundation

/// Measures for how long the main thread works without looking for events: that is how long a click, a
/// key or the next frame may have to wait.
///
/// One turn of the main loop counts as one piece of work; it includes what GTK does in it, such as
/// layout and drawing. Turns are measured from `start()` on, for the rest of the program; that costs two
/// readings of two clocks for each.
@MainActor public enum MainLoopMeter {
    /// The longest turn, by the clock.
    public static var longestTurn: Duration { .nanoseconds(longest.elapsed) }

    /// The most processor time that the main thread used in a turn. Less than `longestTurn` where other
    /// threads and programs took the processor away.
    public static var mostProcessorTime: Duration { .nanoseconds(longest.processor) }

    /// The most processor time that the main actor's work took in a turn: that of the program and of
    /// views that load, without GTK's layout and drawing.
    public static var mostActorTime: Duration { .nanoseconds(longestWork) }

    /// Begins to measure. Further calls do nothing.
    public static func start() {
        guard former == nil else { return }
        former = g_main_context_get_poll_func(nil)
        g_main_context_set_poll_func(nil) { descriptors, count, timeout in
            MainLoopMeter.turnEnded()
            let result = MainLoopMeter.former?(descriptors, count, timeout) ?? -1
            MainLoopMeter.began = Reading.now
            return result
        }
    }

    /// Forgets what was measured so far.
    public static func reset() {
        longest = Reading()
        longestWork = 0
        began = nil
    }

    /// Does the main actor's work, and measures it if that is wanted.
    nonisolated static func measureWork(_ work: () -> Void) {
        guard former != nil else { return work() }
        let begin = Reading.now.processor
        work()
        longestWork = max(longestWork, Reading.now.processor - begin)
    }

    private struct Reading {
        var elapsed: Int64 = 0
        var processor: Int64 = 0

        static var now: Reading {
            Reading(
                elapsed: time(of: CLOCK_MONOTONIC), processor: time(of: CLOCK_THREAD_CPUTIME_ID))
        }

        private static func time(of clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    // Used by the thread of the main loop only, which is where GLib calls the function.
    nonisolated(unsafe) private static var former: GPollFunc?
    nonisolated(unsafe) private static var began: Reading?
    nonisolated(unsafe) private static var longest = Reading()
    nonisolated(unsafe) private static var longestWork: Int64 = 0

    nonisolated private static func turnEnded() {
        guard let began else { return }
        let now = Reading.now
        longest.elapsed = max(longest.elapsed, now.elapsed - began.elapsed)
        longest.processor = max(longest.processor, now.processor - began.processor)
    }
}
