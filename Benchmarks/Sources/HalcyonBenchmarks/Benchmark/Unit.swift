/// What the figures of a benchmark are printed in. Samples are in seconds, bytes or counts.
enum Unit: Sendable {
    case nanoseconds
    case microseconds
    case milliseconds
    case megabytes
    case count(of: String)

    var symbol: String {
        switch self {
        case .nanoseconds: "ns"
        case .microseconds: "µs"
        case .milliseconds: "ms"
        case .megabytes: "MB"
        case .count(let noun): noun
        }
    }

    /// How many of this unit are one second, one byte or one.
    var perBase: Double {
        switch self {
        case .nanoseconds: 1e9
        case .microseconds: 1e6
        case .milliseconds: 1e3
        case .megabytes: 1e-6
        case .count: 1
        }
    }
}
