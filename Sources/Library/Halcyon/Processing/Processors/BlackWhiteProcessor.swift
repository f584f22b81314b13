import Foundation

/// Makes a slightly brightened picture of greys: `ColorControlsProcessor` with brightness 0,
/// contrast 1, saturation 0 and an exposure of 0.7 EV.
public struct BlackWhiteProcessor: ImageProcessor {
    public var identifier: String { ProcessorIdentifier.make("BlackWhiteProcessor") }

    public init() {}

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0.7)
            .process(item: item, options: options)
    }
}

extension BlackWhiteProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "bw", arguments: "", summary: "Turns colours into greys, slightly brightened.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {}

    var argumentTexts: [String] { [] }
}
