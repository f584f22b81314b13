/// One row of the suite: a piece of work, and who does it.
struct Benchmark: Sendable {
    /// Which of the two times of a sample is compared.
    enum Clock: String, Sendable {
        case wall
        case cpu
    }

    /// As printed, and what `--filter` looks into.
    let name: String
    let unit: Unit
    let clock: Clock
    /// What has to be known to read the figures, in one or two sentences.
    let conditions: String
    /// Rounds that are enough; `nil` means as many as were asked for.
    let enoughRounds: Int?
    /// The ratio to reach, by the peer's name.
    let targets: [String: Double]
    /// What the results have to be like; `nil` where all make the same.
    let quality: QualityClass?
    /// Sets the contestants up.
    let contest: @Sendable (Workbench) async throws -> Contest

    init(
        _ name: String, unit: Unit, clock: Clock = .wall, conditions: String,
        enoughRounds: Int? = nil, targets: [String: Double] = [:], quality: QualityClass? = nil,
        contest: @escaping @Sendable (Workbench) async throws -> Contest
    ) {
        self.name = name
        self.unit = unit
        self.clock = clock
        self.conditions = conditions
        self.enoughRounds = enoughRounds
        self.targets = targets
        self.quality = quality
        self.contest = contest
    }
}
