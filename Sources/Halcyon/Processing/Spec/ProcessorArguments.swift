import Foundation

/// The arguments of a processor in its text form, read one after the other.
struct ProcessorArguments {
    private let form: ProcessorTextForm
    private var rest: ArraySlice<String>
    /// The optional parameters that the first of `rest` is not.
    private var tried: [ArgumentKind] = []

    init(_ arguments: [String], of form: ProcessorTextForm) {
        self.form = form
        rest = arguments.map { $0.trimmingCharacters(in: .whitespaces) }[...]
    }

    /// Reads the argument that must come next.
    mutating func required<Value>(
        _ argument: ProcessorArgument<Value>
    ) throws(ImageProcessorSpec.ParsingError) -> Value {
        guard let text = rest.popFirst() else {
            throw failure(argument.kind.name, "\(argument.kind.description) is missing")
        }
        guard let value = argument.read(text) else {
            throw failure(argument.kind.name, "“\(text)” is not \(argument.kind.description)")
        }
        return value
    }

    /// Reads the next argument if it is of this kind.
    mutating func optional<Value>(_ argument: ProcessorArgument<Value>) -> Value? {
        guard let text = rest.first else { return nil }
        guard let value = argument.read(text) else {
            tried.append(argument.kind)
            return nil
        }
        tried = []
        rest.removeFirst()
        return value
    }

    /// Throws when an argument was not read.
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

/// What an argument is called and what it may be, for error messages.
struct ArgumentKind: Sendable {
    let name: String
    let description: String
}

/// A parameter of a processor and how its text is read.
struct ProcessorArgument<Value>: Sendable {
    let kind: ArgumentKind
    /// The value of a text, or `nil` when it is not one.
    let read: @Sendable (String) -> Value?

    init(_ name: String, _ description: String, read: @escaping @Sendable (String) -> Value?) {
        kind = ArgumentKind(name: name, description: description)
        self.read = read
    }
}
