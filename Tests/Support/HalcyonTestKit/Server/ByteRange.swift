/// The range of bytes that a `Range` field asks for (RFC 9110, section 14.1.2).
public enum ByteRange: Equatable, Sendable {
    /// The whole body: the field is malformed, of another unit, or has several ranges.
    case whole
    case part(Range<Int>)
    /// The range selects no byte of the body.
    case unsatisfiable

    public init(header: String, length: Int) {
        self = .whole
        guard let match = header.wholeMatch(of: /[Bb][Yy][Tt][Ee][Ss]=([0-9]*)-([0-9]*)/) else {
            return
        }
        switch (Int(match.1), Int(match.2)) {
        case (nil, let count?) where match.1.isEmpty:
            let isEmpty = count == 0 || length == 0
            self = isEmpty ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let first?, nil) where match.2.isEmpty:
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default: break
        }
    }
}
