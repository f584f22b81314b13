/// The range requested by a `Range` header field (RFC 9110, section 14.1.2).
enum ByteRange: Equatable {
    /// The whole body: the field is malformed, of another unit, or has several ranges.
    case whole
    case part(Range<Int>)
    /// The range selects no byte of the body.
    case unsatisfiable

    init(header: String, length: Int) {
        guard header.hasPrefix("bytes="), !header.contains(",") else {
            self = .whole
            return
        }
        let bounds = header.dropFirst("bytes=".count)
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2 else {
            self = .whole
            return
        }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (nil, let count?) where bounds[0].isEmpty:
            let isEmpty = count == 0 || length == 0
            self = isEmpty ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let first?, nil) where bounds[1].isEmpty:
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default:
            self = .whole
        }
    }
}
