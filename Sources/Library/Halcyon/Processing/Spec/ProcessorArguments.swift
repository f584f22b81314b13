import Foundation

/// The arguments of a processor in its text form, read one after the other.
struct ProcessorArguments {
    private let form: ProcessorTextForm
    private var rest: ArraySlice<String>
    /// The optional parameters that were tried for the first of `rest` without success.
    private var tried: [(name: String, description: String)] = []

    init(_ arguments: [String], of form: ProcessorTextForm) {
        self.form = form
        rest = arguments.map { $0.trimmingCharacters(in: .whitespaces) }[...]
    }

    mutating func required<Value>(
        _ argument: ProcessorArgument<Value>
    ) throws(ImageProcessorSpec.ParsingError) -> Value {
        guard let text = rest.popFirst() else {
            throw failure(argument.name, "\(argument.description) is missing")
        }
        guard let value = argument.read(text) else {
            throw failure(argument.name, "“\(text)” is not \(argument.description)")
        }
        return value
    }

    mutating func optional<Value>(_ argument: ProcessorArgument<Value>) -> Value? {
        guard let text = rest.first else { return nil }
        guard let value = argument.read(text) else {
            tried.append((argument.name, argument.description))
            return nil
        }
        tried = []
        rest.removeFirst()
        return value
    }

    func finish() throws(ImageProcessorSpec.ParsingError) {
        guard let text = rest.first else { return }
        if tried.isEmpty { throw failure("arguments", "“\(text)” is one too many") }
        throw failure(
            tried.map(\.name).joined(separator: " or "),
            "“\(text)” is not \(tried.map(\.description).joined(separator: " or "))")
    }

    private func failure(
        _ parameter: String, _ problem: String
    ) -> ImageProcessorSpec.ParsingError {
        ImageProcessorSpec.ParsingError(
            processor: form.name, parameter: parameter, problem: problem, expected: form.form)
    }
}

struct ProcessorArgument<Value>: Sendable {
    /// The name and the description for error messages.
    let name: String
    let description: String
    /// Returns the value of a text, or `nil` if it is invalid.
    let read: @Sendable (String) -> Value?

    init(_ name: String, _ description: String, read: @escaping @Sendable (String) -> Value?) {
        self.name = name
        self.description = description
        self.read = read
    }
}

extension ProcessorArgument where Value == CGFloat {
    static func number(
        _ name: String, _ description: String, in range: ClosedRange<CGFloat>
    ) -> Self {
        Self(name, description) { text in
            SpecText.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func length(_ name: String) -> Self {
        number(name, "a length in points", in: 0...CGFloat.greatestFiniteMagnitude)
    }

    static func fraction(_ name: String) -> Self {
        number(name, "a number from 0 to 1", in: 0...1)
    }
}

extension ProcessorArgument where Value == CGSize {
    static let size = Self("size", "a size such as 200x100") { text in
        let sides = SpecText.numbers(text, separator: "x")
        guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else { return nil }
        return CGSize(width: sides[0], height: sides[1])
    }
}

extension ProcessorArgument where Value == CGPoint {
    static let anchor = Self("anchor", "a point such as 0.5,0.5") { text in
        let numbers = SpecText.numbers(text, separator: ",")
        guard numbers.count == 2, numbers.allSatisfy({ (0...1).contains($0) }) else { return nil }
        return CGPoint(x: numbers[0], y: numbers[1])
    }

    static let place = Self("place", "a place such as 20,10") { text in
        let numbers = SpecText.numbers(text, separator: ",")
        return numbers.count == 2 ? CGPoint(x: numbers[0], y: numbers[1]) : nil
    }
}

extension ProcessorArgument where Value == SpecText.Sides {
    static func sides(_ name: String) -> Self {
        Self(name, "horizontal, vertical, both or none") { text in SpecText.Sides(rawValue: text) }
    }
}

extension ProcessorArgument where Value == Color {
    static let color = Self("color", "a colour such as #ff0000 or #ff000080") { text in
        SpecText.color(text)
    }
}

extension ProcessorArgument where Value == Radius {
    static let radius = Self("radius", "a radius such as 20, w0.5 or h0.5") { text in
        @Sendable func length(_ text: Substring) -> CGFloat? {
            SpecText.number(String(text)).flatMap { $0 >= 0 ? $0 : nil }
        }
        return switch text.first {
        case "w": length(text.dropFirst()).map(Radius.widthFraction)
        case "h": length(text.dropFirst()).map(Radius.heightFraction)
        default: length(text[...]).map(Radius.point)
        }
    }
}

extension ProcessorArgument where Value == RectCorner {
    static let corners = Self("corners", "corners such as topLeft+bottomRight") { text in
        var corners: RectCorner = []
        for name in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let entry = SpecText.corners.first(where: { $0.name == name }) else { return nil }
            corners.formUnion(entry.corner)
        }
        return corners
    }
}
