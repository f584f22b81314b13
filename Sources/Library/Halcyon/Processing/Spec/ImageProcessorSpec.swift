import Foundation

/// Processors as text: `resize:200x100:fit`, several joined by `|>`.
public enum ImageProcessorSpec {
    /// Why a text is not a processor.
    public struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name of the processor, as written.
        public let processor: String
        /// The parameter at fault, or `nil` when the processor is not known.
        public let parameter: String?
        /// What is wrong.
        public let problem: String
        /// The form that is expected.
        public let expected: String

        public var description: String {
            let place = [processor, parameter].compactMap(\.self).filter { !$0.isEmpty }
            let subject = place.isEmpty ? "" : place.joined(separator: ": ") + ": "
            return "\(subject)\(problem) (expected \(expected))"
        }
    }

    /// How each processor is written and what it does, for a help text.
    public static var reference: [(form: String, summary: String)] {
        ImageProcessors.all.map { ($0.textForm.form, $0.textForm.summary) }
    }

    /// The processor that `text` describes; several joined by `|>` work in that order.
    public static func parse(_ text: String) throws(ParsingError) -> any ImageProcessor {
        try parse(text.components(separatedBy: "|>"))
    }

    /// The processor of several texts, which work in their order.
    public static func parse(_ texts: [String]) throws(ParsingError) -> any ImageProcessor {
        var chain: (any ImageProcessor)?
        for text in texts.flatMap({ $0.components(separatedBy: "|>") }) {
            let processor = try parseOne(text.trimmingCharacters(in: .whitespaces))
            chain = chain.map { $0 |> processor } ?? processor
        }
        guard let chain else { throw unknown("") }
        return chain
    }

    /// The text of a processor, which `parse` reads back; `nil` for one without a text form.
    public static func text(of processor: any ImageProcessor) -> String? {
        processor.writtenForm
    }

    private static func parseOne(_ text: String) throws(ParsingError) -> any ImageProcessor {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let name = parts.first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        guard let type = ImageProcessors.all.first(where: { $0.textForm.name == name }) else {
            throw unknown(name)
        }
        var arguments = ProcessorArguments(parts.dropFirst().map(String.init), of: type.textForm)
        let processor = try type.init(arguments: &arguments)
        try arguments.finish()
        return processor
    }

    private static func unknown(_ name: String) -> ParsingError {
        let names = ImageProcessors.all.map { $0.textForm.name }.joined(separator: ", ")
        return ParsingError(
            processor: name, parameter: nil,
            problem: name.isEmpty ? "a processor is missing" : "there is no such processor",
            expected: "one of \(names)")
    }
}

/// The processors that have a text form. A new processor is one new file and one line here.
enum ImageProcessors {
    static let all: [any TextualImageProcessor.Type] = [
        DownsamplingImageProcessor.self,
        ResizingImageProcessor.self,
        CroppingImageProcessor.self,
        FocusCroppingImageProcessor.self,
        SmartCroppingImageProcessor.self,
        RegionImageProcessor.self,
        TrimmingImageProcessor.self,
        FlippingImageProcessor.self,
        RotatingImageProcessor.self,
        PaddingImageProcessor.self,
        CanvasImageProcessor.self,
        RoundCornerImageProcessor.self,
        BorderImageProcessor.self,
        BlurImageProcessor.self,
        GaussianBlurImageProcessor.self,
        SharpeningImageProcessor.self,
        PixelatingImageProcessor.self,
        OverlayImageProcessor.self,
        TintImageProcessor.self,
        BlendImageProcessor.self,
        ColorControlsProcessor.self,
        BlackWhiteProcessor.self,
        GrayscaleImageProcessor.self,
        BitonalImageProcessor.self,
    ]
}

/// A processor that can be written as `name:argument:argument`, as the command line does.
protocol TextualImageProcessor: WrittenImageProcessor {
    /// How the processor is written, and what it does.
    static var textForm: ProcessorTextForm { get }

    /// Reads what follows the name.
    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError)

    /// What follows the name, in the order in which `init(arguments:)` reads it.
    var argumentTexts: [String] { get }
}

extension TextualImageProcessor {
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
