import Foundation

/// The text form of processors: `resize:200x100:fit`, several joined by `|>`.
public enum ImageProcessorSpec {
    /// The reason why a text is not a processor.
    public struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name of the processor, as written.
        public let processor: String
        /// The invalid parameter, or `nil` for an unknown processor.
        public let parameter: String?
        /// The problem.
        public let problem: String
        /// The expected form.
        public let expected: String

        public var description: String {
            let place = [processor, parameter].compactMap(\.self).filter { !$0.isEmpty }
            let subject = place.isEmpty ? "" : place.joined(separator: ": ") + ": "
            return "\(subject)\(problem) (expected \(expected))"
        }
    }

    /// The form and a summary of each processor, for a help text.
    public static var reference: [(form: String, summary: String)] {
        ImageProcessors.all.map { ($0.textForm.form, $0.textForm.summary) }
    }

    /// Parses the processor in `text`; several joined by `|>` are applied in order.
    public static func parse(_ text: String) throws(ParsingError) -> any ImageProcessor {
        try parse(text.components(separatedBy: "|>"))
    }

    /// Parses the processors in `texts`, to be applied in order.
    public static func parse(_ texts: [String]) throws(ParsingError) -> any ImageProcessor {
        var chain: (any ImageProcessor)?
        for text in texts.flatMap({ $0.components(separatedBy: "|>") }) {
            let processor = try parseOne(text.trimmingCharacters(in: .whitespaces))
            chain = chain.map { $0 |> processor } ?? processor
        }
        guard let chain else { throw unknown("") }
        return chain
    }

    /// Returns the text of a processor, which `parse` accepts; `nil` for one without a text form.
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

/// A processor with the form `name:argument:argument`, as used on the command line.
protocol TextualImageProcessor: WrittenImageProcessor {
    static var textForm: ProcessorTextForm { get }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError)

    /// The arguments after the name, in the order in which `init(arguments:)` reads them; `nil` for
    /// one that is left out.
    var writtenArguments: [(any SpecValue)?] { get }
}

extension TextualImageProcessor {
    var spec: String {
        ([Self.textForm.name] + writtenArguments.compactMap { $0?.specText }).joined(separator: ":")
    }
}

/// The text form of a processor, for help texts and error messages.
struct ProcessorTextForm: Sendable {
    let name: String
    /// The arguments, optional ones in brackets, such as `:WIDTHxHEIGHT[:fit|fill|none]`.
    let arguments: String
    let summary: String

    var form: String { name + arguments }
}
