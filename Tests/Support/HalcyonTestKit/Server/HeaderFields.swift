/// The header fields of a message, in order; names are compared without case.
public struct HeaderFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The first value of a field; setting replaces all its lines, `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            fields.removeAll { $0.isNamed(name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// All values of a field, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Appends a line, also when there is one of that name.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}
