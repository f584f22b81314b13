public import Foundation

/// Changes brightness, contrast and saturation, then exposure.
///
/// Computed as in Core Image's `CIColorControls` and `CIExposureAdjust` (Core Image Filter
/// Reference), on linear light, which is Core Image's default working space. For each colour:
/// 1. saturation: `L + s · (colour − L)` with the luminance `L = 0.2126 R + 0.7152 G + 0.0722 B`,
/// 2. brightness: `+ b`,
/// 3. contrast: `0.5 + c · (colour − 0.5)`,
/// 4. exposure: `× 2^EV`.
///
/// Only the result is clamped to 0…1. Alpha stays.
public struct ColorControlsProcessor: ImageProcessor, StepImageProcessor {
    /// The value added to each component; 0 changes nothing.
    public let brightness: CGFloat
    /// The factor for the distance from middle grey; 1 changes nothing.
    public let contrast: CGFloat
    /// The saturation: 0 gives greys, 1 changes nothing.
    public let saturation: CGFloat
    /// The exposure in photographic stops; 0 changes nothing, 1 doubles the light.
    public let inputEV: CGFloat

    public init(brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, inputEV: CGFloat) {
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.inputEV = inputEV
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "ColorControlsProcessor", "\(brightness)_\(contrast)_\(saturation)_\(inputEV)")
    }

    func step(_ image: Image) -> Image {
        image.kf.adjusted(
            brightness: brightness, contrast: contrast, saturation: saturation, inputEV: inputEV)
    }
}

extension ColorControlsProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "color", arguments: ":BRIGHTNESS,CONTRAST,SATURATION,EV",
        summary: "Adjusts colours; also by name, as in color:b=0.1,s=0.5. 0,1,1,0 changes nothing.")

    private static let names = ["b", "c", "s", "ev"]
    private static let controls = ProcessorArgument<[CGFloat]>(
        "controls", "four numbers such as 0,1,1,0, or some of b=0,c=1,s=1,ev=0"
    ) { text in
        guard text.contains("=") else {
            let numbers = SpecText.numbers(text, separator: ",")
            return numbers.count == 4 ? numbers : nil
        }
        var values: [CGFloat] = [0, 1, 1, 0]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard pair.count == 2, let index = names.firstIndex(of: pair[0]),
                let value = SpecText.number(pair[1])
            else { return nil }
            values[index] = value
        }
        return values
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let values = try arguments.required(Self.controls)
        self.init(
            brightness: values[0], contrast: values[1], saturation: values[2], inputEV: values[3])
    }

    var writtenArguments: [(any SpecValue)?] {
        [[brightness, contrast, saturation, inputEV].map(\.specText).joined(separator: ",")]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with other colours; see `ColorControlsProcessor` for the formula.
    public func adjusted(
        brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, inputEV: CGFloat
    ) -> KFCrossPlatformImage {
        base.adjusted(
            brightness: brightness, contrast: contrast, saturation: saturation, exposure: inputEV)
    }
}
