/// A millisecond for others, in loops that wait for what tells nobody when it happens.
///
/// Unlike `Task.yield()` such a loop leaves the processor to what it waits for.
public func pause() async {
    // A cancelled test goes on to its own checks.
    try? await Task.sleep(for: .milliseconds(1))
}
