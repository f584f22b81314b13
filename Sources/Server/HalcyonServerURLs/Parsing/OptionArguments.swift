/// The expected form of an option's argument, and its reader.
struct ArgumentForm<Value>: Sendable {
    /// Completes "has to be …"; made for errors only.
    let expected: @Sendable () -> String
    let read: @Sendable (String) -> Value?

    init(
        _ expected: @escaping @Sendable @autoclosure () -> String,
        _ read: @escaping @Sendable (String) -> Value?
    ) {
        self.expected = expected
        self.read = read
    }
}

struct OptionArguments {
    /// As written.
    let name: String
    /// The arguments without their separators. Empty ones are kept.
    private(set) var values: ArraySlice<String>

    init(name: String, values: [String]) {
        self.name = name
        self.values = values[...]
    }

    var count: Int { values.count }

    /// The argument at `index`, counted from 0; `nil` when it is missing or empty.
    subscript(index: Int) -> String? {
        guard index < values.count else { return nil }
        let value = values[values.startIndex + index]
        return value.isEmpty ? nil : value
    }

    /// Whether there is an argument at `index`, perhaps an empty one.
    func has(_ index: Int) -> Bool { index < values.count }

    func dropFirst(_ count: Int = 1) -> OptionArguments {
        var copy = self
        copy.values = values.dropFirst(count)
        return copy
    }

    /// The argument at `index`; `nil` when it is missing or empty.
    func value<Value>(_ index: Int, _ form: ArgumentForm<Value>) throws(PlanError) -> Value? {
        guard let text = self[index] else { return nil }
        guard let value = form.read(text) else { throw wrong(text, form.expected()) }
        return value
    }

    /// Sets `target` to the argument at `index`, unless that is missing or empty.
    func read<Value>(
        _ index: Int, into target: inout Value, _ form: ArgumentForm<Value>
    ) throws(PlanError) {
        if let value = try value(index, form) { target = value }
    }

    /// Sets `target` to the argument at `index`, or to `other` when that is missing; an empty one keeps it.
    func read<Value>(
        _ index: Int, into target: inout Value, _ form: ArgumentForm<Value>, orElse other: Value
    ) throws(PlanError) {
        if !has(index) { target = other }
        try read(index, into: &target, form)
    }

    /// Sets `target` to the argument at `index`, unless that is missing or empty; 0 is none.
    func readPositive(
        _ index: Int, into target: inout Int?, _ form: ArgumentForm<Int>
    ) throws(PlanError) {
        if let number = try value(index, form) { target = number == 0 ? nil : number }
    }

    func wrong(_ text: String, _ expected: String) -> PlanError {
        PlanError(
            .invalidOption,
            "Option \(Self.shown(name)): “\(Self.shown(text))” has to be \(expected).")
    }

    func wrong(_ sentence: String) -> PlanError {
        PlanError(.invalidOption, "Option \(Self.shown(name)): \(sentence)")
    }

    func unsupported(_ what: String) -> PlanError {
        PlanError(.unsupportedOption, "Option \(name): \(what) is not supported by Halcyon.")
    }

    /// The part of a text that an error message shows.
    static func shown(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(60)
        let safe = String(String.UnicodeScalarView(start.filter { $0.value >= 0x20 }))
        return start.count < text.unicodeScalars.count ? safe + "…" : safe
    }
}

extension ArgumentForm where Value == Int {
    static var pixels: Self { whole(0...Int(Int32.max), "a whole number of pixels, 0 or more") }

    static func whole(
        _ range: ClosedRange<Int>, _ expected: @escaping @Sendable @autoclosure () -> String
    ) -> Self {
        ArgumentForm(expected()) { text in
            guard let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ArgumentForm where Value == Double {
    static var offset: Self { ArgumentForm("a number", Numbers.finite) }
    static var share: Self { number("a number from 0 to 1") { (0...1).contains($0) } }
    static var atLeastZero: Self { number("a number, 0 or more") { $0 >= 0 } }

    static func number(
        _ expected: @escaping @Sendable @autoclosure () -> String,
        where isValid: @escaping @Sendable (Double) -> Bool
    ) -> Self {
        ArgumentForm(expected()) { text in
            guard let number = Numbers.finite(text), isValid(number) else { return nil }
            return number
        }
    }
}

extension ArgumentForm where Value == RGBColor {
    static var colour: Self {
        ArgumentForm("3 or 6 hexadecimal digits") { RGBColor(hexadecimal: $0) }
    }
}
