/// Runs benchmarks: after a warm-up, rounds in which every contestant has one turn, in an order drawn
/// anew each time, so that whatever else happens on the machine happens to all of them.
struct Runner: Sendable {
    let rounds: Int
    let workbench: Workbench
    /// Leaves the peers out, so that a profiler sees Halcyon only; there are no rows then.
    let alone: Bool

    /// The rows of `benchmark`, one for each peer.
    @concurrent
    func run(_ benchmark: Benchmark) async throws -> [Row] {
        let contest = try await benchmark.contest(workbench)
        do {
            let rows = try await rows(of: benchmark, contest: contest)
            try await contest.finish()
            return rows
        } catch {
            try await contest.finish()
            throw error
        }
    }

    private func rows(of benchmark: Benchmark, contest: Contest) async throws -> [Row] {
        let peers = alone ? [] : contest.peers
        let contestants = [contest.ours] + peers
        for contestant in contestants {
            _ = try await contestant.sample()
        }

        let rounds = min(rounds, benchmark.enoughRounds ?? rounds)
        var samples = [[Sample]](repeating: [], count: contestants.count)
        for round in 1...rounds {
            Progress.show("\(benchmark.name): round \(round) of \(rounds)")
            for index in contestants.indices.shuffled() {
                samples[index].append(try await contestants[index].sample())
            }
        }
        Progress.clear()

        var figures: [Figure] = []
        for (contestant, samples) in zip(contestants, samples) {
            // The judge is a program of Python, which a profiler should not see.
            let quality = alone ? nil : try await contestant.quality?()
            figures.append(try figure(of: samples, in: benchmark, quality: quality ?? nil))
        }
        if alone { Progress.say("\(benchmark.name): \(figures[0].text) \(benchmark.unit.symbol)") }
        return zip(peers, figures.dropFirst()).map { peer, figure in
            Row(
                name: benchmark.name, unit: benchmark.unit, clock: benchmark.clock,
                ours: figures[0], peer: figure, peerName: peer.name, rounds: rounds,
                target: target(of: peer, with: figure, in: benchmark),
                qualityClass: benchmark.quality)
        }
    }

    /// Only peers that do the work well enough are a measure of how long it may take.
    private func target(
        of peer: Contestant, with figure: Figure, in benchmark: Benchmark
    ) -> Double? {
        guard let least = benchmark.quality?.peers, let quality = figure.quality else {
            return benchmark.targets[peer.name]
        }
        return quality >= least ? benchmark.targets[peer.name] : nil
    }

    private func figure(of samples: [Sample], in benchmark: Benchmark, quality: Double?) throws
        -> Figure
    {
        let factor = benchmark.unit.perBase
        guard let spread = Spread(samples.map { $0.value(by: benchmark.clock) }) else {
            throw BenchmarkError("\(benchmark.name): there are no samples")
        }
        let cpu = benchmark.clock == .wall ? Spread(samples.compactMap(\.cpu)) : nil
        return Figure(
            spread: spread.scaled(by: factor), cpu: cpu?.scaled(by: factor).median,
            quality: quality)
    }
}
