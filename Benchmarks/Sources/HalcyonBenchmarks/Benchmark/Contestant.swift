/// One way to do the work of a benchmark.
struct Contestant: Sendable {
    /// As printed: the library and, where it matters, how it is called.
    let name: String
    /// Does the work of one round.
    let sample: @Sendable () async throws -> Sample
    /// How close the result is to the exact one, by the measure of the benchmark's quality class;
    /// `nil` when nobody can tell.
    let quality: (@Sendable () async throws -> Double?)?

    init(
        _ name: String, quality: (@Sendable () async throws -> Double?)? = nil,
        sample: @escaping @Sendable () async throws -> Sample
    ) {
        self.name = name
        self.quality = quality
        self.sample = sample
    }
}

/// Those who do the work of a benchmark, set up and ready.
struct Contest: Sendable {
    let ours: Contestant
    let peers: [Contestant]
    /// Called after the last round.
    let finish: @Sendable () async throws -> Void

    init(
        ours: Contestant, peers: [Contestant],
        finish: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.ours = ours
        self.peers = peers
        self.finish = finish
    }
}
