public import Testing

/// A text among a test's arguments of which only the beginning is printed: Swift Testing prints the arguments of each
/// case, however long they are.
public struct LongText: ExpressibleByStringInterpolation, CustomTestStringConvertible, Sendable {
    public let value: String

    public init(stringLiteral value: String) { self.value = value }

    public var testDescription: String {
        let (beginning, count) = (value.prefix(100), value.count)
        let isWhole = count == beginning.count
        return beginning.debugDescription + (isWhole ? "" : "… (\(count) characters)")
    }
}
