import Foundation

/// Makes a slightly brightened picture of greys: `ColorControlsProcessor` with brightness 0,
/// contrast 1, saturation 0 and an exposure of 0.7 EV.
public struct BlackWhiteProcessor: ImageProcessor, StepImageProcessor {
    public var identifier: String { ProcessorIdentifier.make("BlackWhiteProcessor") }

    public init() {}

    func step(_ image: Image) -> Image {
        ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0.7).step(image)
    }
}

extension BlackWhiteProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "bw", arguments: "", summary: "Turns colours into greys, slightly brightened.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {}

    var writtenArguments: [(any SpecValue)?] { [] }
}
