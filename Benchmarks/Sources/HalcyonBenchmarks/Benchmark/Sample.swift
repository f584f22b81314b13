/// What one round of one contestant gave.
enum Sample: Sendable {
    /// Seconds for one operation: elapsed, and of all threads of the contestant's process.
    case time(wall: Double, cpu: Double)
    /// Bytes or a count.
    case amount(Double)

    /// The number that is compared.
    func value(by clock: Benchmark.Clock) -> Double {
        switch self {
        case .time(let wall, let cpu): clock == .wall ? wall : cpu
        case .amount(let amount): amount
        }
    }

    /// CPU seconds, for a sample that has them.
    var cpu: Double? {
        if case .time(_, let cpu) = self { cpu } else { nil }
    }

    /// The same with more CPU seconds, of other processes.
    func adding(cpu more: Double) -> Sample {
        if case .time(let wall, let cpu) = self { .time(wall: wall, cpu: cpu + more) } else { self }
    }
}
