/// The values of a store in the order in which they have to leave, as it was at some moment.
///
/// Using a value changes nothing here: whoever takes a departure compares its number with that of the
/// value's last use. When they differ, the value has been used since, later than all values whose
/// numbers are the same; the list is made anew when it is used up. So an order is kept at the cost of
/// a sort now and then, and a use has to change nothing but the number.
struct DepartureList {
    /// A value that may have to leave.
    struct Departure {
        let shard: UInt32
        let slot: UInt32
        /// The number of the value's last use at that moment.
        let lastUse: UInt64
    }

    /// The next one is the last.
    private var departures: [Departure]

    /// No departures.
    init() {
        departures = []
    }

    /// The departures given in any order. What was used at `moment` or later is left out if anything
    /// else is there: of uses during the listing, some may have been missed.
    init(_ all: [Departure], at moment: UInt64) {
        let settled = all.filter { $0.lastUse < moment }
        departures = (settled.isEmpty ? all : settled).sorted { $0.lastUse > $1.lastUse }
    }

    /// Takes the one that is next.
    mutating func next() -> Departure? { departures.popLast() }
}
