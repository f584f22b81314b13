/// The total cost and number of a store's values, with the limits of both.
struct StoreBudget {
    /// The result of a reservation.
    enum Answer {
        /// There was room; the value is counted now.
        case reserved
        /// There is no room until others are evicted.
        case full
        /// The value alone exceeds the limit.
        case tooCostly
    }

    /// The sum of the values' costs.
    private(set) var totalCost = 0
    /// The number of values in the store.
    private(set) var count = 0
    /// The number of values evicted so far.
    private(set) var evictionCount = 0
    /// The limit of the total cost; `nil` for none.
    var costLimit: Int?
    /// The limit of the number of values; `nil` for none.
    var countLimit: Int?

    init(costLimit: Int? = nil, countLimit: Int? = nil) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// Whether values have to be evicted because the limits were lowered.
    var isExceeded: Bool {
        totalCost > costLimit ?? .max || count > countLimit ?? .max
    }

    /// Reserves room for a value of `cost`, replacing one of `formerCost` if that is given. Costs
    /// are not negative.
    mutating func reserve(_ cost: Int, inPlaceOf formerCost: Int? = nil) -> Answer {
        guard cost <= costLimit ?? .max, countLimit ?? .max > 0 else { return .tooCostly }
        // Without a limit, `Int.max` is one.
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

    /// Stops counting the `cost` of an evicted value.
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

/// The values of a store in the order of eviction, as of some moment.
///
/// Using a value changes nothing here: the caller compares a candidate's number with that of the
/// value's last use. When they differ, the value has been used since, later than all values whose
/// numbers are equal; the list is rebuilt when it is used up. So an order costs a sort now and
/// then, and a use has to change nothing but the number.
struct EvictionOrder {
    /// A candidate for eviction.
    struct Candidate {
        let shard: UInt32
        let slot: UInt32
        /// The number of the value's last use at that moment.
        let lastUse: UInt64
    }

    /// The candidates, with the next one last.
    private var candidates: [Candidate]

    /// An order without candidates.
    init() {
        candidates = []
    }

    /// The candidates, given in any order. Values used at `moment` or later are left out if there
    /// are others: of uses during the listing, some may have been missed.
    init(_ all: [Candidate], at moment: UInt64) {
        let settled = all.filter { $0.lastUse < moment }
        candidates = (settled.isEmpty ? all : settled).sorted { $0.lastUse > $1.lastUse }
    }

    /// Takes the next candidate.
    mutating func next() -> Candidate? { candidates.popLast() }
}
