/// The one range of bytes that a `Range` field asks for (RFC 9110, section 14.1.2).
enum RequestedRange: Sendable, Hashable {
    /// `bytes=5-9`, `bytes=5-`
    case from(Int64, through: Int64?)
    /// `bytes=-5`
    case suffix(Int64)

    /// `nil` for several ranges, other units and everything that is no range.
    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /[Bb][Yy][Tt][Ee][Ss]=([0-9]*)-([0-9]*)/) else {
            return nil
        }
        switch (Int64(match.1), Int64(match.2)) {
        case (let first?, let last?) where last < first: return nil
        case (let first?, let last): self = .from(first, through: last)
        case (nil, let length?): self = .suffix(length)
        case (nil, nil): return nil
        }
    }

    /// The positions asked for in a body of `count` bytes; `nil` when none of them exists.
    func positions(count: Int) -> Range<Int>? {
        let total = Int64(count)
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return Int(first)..<(last.map { Int(min($0, total - 1)) + 1 } ?? count)
        case .suffix(let length):
            guard length > 0, count > 0 else { return nil }
            return (count - Int(min(length, total)))..<count
        }
    }
}
