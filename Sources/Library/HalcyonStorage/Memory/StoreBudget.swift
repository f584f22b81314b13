/// What the values of a store cost together and how many there are, with the limits of both.
struct StoreBudget {
    /// Whether there is room for a value.
    enum Answer {
        /// There was; it is counted now.
        case reserved
        /// Not before others have left.
        case full
        /// Not even if it were the only one.
        case tooCostly
    }

    /// The sum of the values' costs.
    private(set) var totalCost = 0
    /// Values in the store.
    private(set) var count = 0
    /// Values that had to leave so far to make room for others.
    private(set) var evictionCount = 0
    /// The most that all values together may cost; `nil` for no limit.
    var costLimit: Int?
    /// The most values there may be; `nil` for no limit.
    var countLimit: Int?

    init(costLimit: Int? = nil, countLimit: Int? = nil) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// Whether values have to leave, because the limits have become lower.
    var isExceeded: Bool {
        totalCost > costLimit ?? .max || count > countLimit ?? .max
    }

    /// Makes room for a value of `cost`, in place of one of `formerCost` if that is given. Costs are
    /// not negative.
    mutating func reserve(_ cost: Int, inPlaceOf formerCost: Int? = nil) -> Answer {
        guard cost <= costLimit ?? .max, countLimit ?? .max > 0 else { return .tooCostly }
        // Without a limit, the greatest number is one.
        let (newTotal, overflows) = (totalCost - (formerCost ?? 0)).addingReportingOverflow(cost)
        let newCount = formerCost == nil ? count + 1 : count
        guard !overflows, newTotal <= costLimit ?? .max, newCount <= countLimit ?? .max else {
            return .full
        }
        totalCost = newTotal
        count = newCount
        return .reserved
    }

    /// Stops counting `cost`.
    mutating func release(_ cost: Int) {
        totalCost -= cost
        count -= 1
    }

    /// Stops counting `cost`, of a value that has to leave for others.
    mutating func evict(_ cost: Int) {
        release(cost)
        evictionCount += 1
    }

    /// Stops counting all values.
    mutating func releaseAll() {
        totalCost = 0
        count = 0
    }
}

/// The values of a store in the order in which they have to leave, as it was at some moment.
///
/// Using a value changes nothing here: whoever takes a candidate compares its number with that of the
/// value's last use. When they differ, the value has been used since, later than all values whose
/// numbers are the same; the list is made anew when it is used up. So an order is kept at the cost of
/// a sort now and then, and a use has to change nothing but the number.
struct EvictionOrder {
    /// A value that may have to leave.
    struct Candidate {
        let shard: UInt32
        let slot: UInt32
        /// The number of the value's last use at that moment.
        let lastUse: UInt64
    }

    /// The next one is the last.
    private var candidates: [Candidate]

    /// Nothing to leave.
    init() {
        candidates = []
    }

    /// The candidates, given in any order. What was used at `moment` or later is left out if anything
    /// else is there: of uses during the listing, some may have been missed.
    init(_ all: [Candidate], at moment: UInt64) {
        let settled = all.filter { $0.lastUse < moment }
        candidates = (settled.isEmpty ? all : settled).sorted { $0.lastUse > $1.lastUse }
    }

    /// Takes the one that is next.
    mutating func next() -> Candidate? { candidates.popLast() }
}
