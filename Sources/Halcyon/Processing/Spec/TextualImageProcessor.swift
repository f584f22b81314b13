/// A processor that can be written as `name:argument:argument`, as the command line does.
protocol TextualImageProcessor: ImageProcessor {
    /// How the processor is written, and what it does.
    static var textForm: ProcessorTextForm { get }

    /// Reads what follows the name.
    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError)

    /// What follows the name, in the order in which `init(arguments:)` reads it.
    var argumentTexts: [String] { get }
}

extension TextualImageProcessor {
    /// The text that `ImageProcessorSpec.parse` reads back as this processor.
    var spec: String {
        ([Self.textForm.name] + argumentTexts).joined(separator: ":")
    }
}

/// How a processor is written, for help texts and error messages.
struct ProcessorTextForm: Sendable {
    /// The name, such as `resize`.
    let name: String
    /// The arguments, optional ones in brackets, such as `:WIDTHxHEIGHT[:fit|fill|none]`.
    let arguments: String
    /// One line that says what the processor does.
    let summary: String

    /// Name and arguments.
    var form: String { name + arguments }
}
