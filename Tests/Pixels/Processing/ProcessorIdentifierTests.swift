import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ProcessorIdentifierTests {
    private static let prefix = "com.onevcat.Kingfisher."
    private static let size = CGSize(width: 20, height: 40)
    private static let red = Color.red

    /// Those that no text of a processor gives (`ImageProcessorSpecTests`).
    private static let identifiers: KeyValuePairs<String, any ImageProcessor> = [
        "RoundCornerImageProcessor(20.0_(20.0, 40.0))":
            RoundCornerImageProcessor(cornerRadius: 20, targetSize: size),
        "RoundCornerImageProcessor(h_frac_0.5_(20.0, 40.0)_corner(2))_(1.00,0.00,0.00,1.00)":
            RoundCornerImageProcessor(
                radius: .heightFraction(0.5), targetSize: size, roundingCorners: .topRight,
                backgroundColor: red),
        "BlendImageProcessor(1,1.0)": BlendImageProcessor(blendMode: .multiply),
        "BorderImageProcessor((0.00,0.00,0.00,1.00)_4.0_0.0_)":
            BorderImageProcessor(border: Border()),
        "BorderImageProcessor((1.00,0.00,0.00,1.00)_1.5_w_frac_0.5__corner(4))":
            BorderImageProcessor(
                border: Border(
                    color: red, lineWidth: 1.5, radius: .widthFraction(0.5),
                    roundingCorners: .bottomLeft)),
        "ResizingImageProcessor((20.0, 40.0))": ResizingImageProcessor(referenceSize: size),
        "ResizingImageProcessor((20.0, 40.0), aspectFill)":
            ResizingImageProcessor(referenceSize: size, mode: .aspectFill),
        "OverlayImageProcessor((1.00,0.00,0.00,1.00)_0.5)": OverlayImageProcessor(overlay: red),
        "CroppingImageProcessor((20.0, 40.0)_(0.5, 0.5))": CroppingImageProcessor(size: size),
        "FlippingImageProcessor(true_false)": FlippingImageProcessor(horizontally: true),
        "RotatingImageProcessor(-90.0)": RotatingImageProcessor(degrees: -90),
        "SmartCroppingImageProcessor((20.0, 40.0))": SmartCroppingImageProcessor(size: size),
        "TrimmingImageProcessor(10.0_false_false)": TrimmingImageProcessor(),
        "TrimmingImageProcessor(3.0_false_true)_(1.00,0.00,0.00,1.00)":
            TrimmingImageProcessor(threshold: 3, color: red, isEvenVertically: true),
        "PaddingImageProcessor(1.0_2.0_3.0_4.0)_(1.00,0.00,0.00,1.00)":
            PaddingImageProcessor(top: 1, right: 2, bottom: 3, left: 4, backgroundColor: red),
        "CanvasImageProcessor((20.0, 40.0)_(0.5, 0.5))": CanvasImageProcessor(size: size),
        "BitonalImageProcessor(0.5)": BitonalImageProcessor(),
    ]

    /// Defect: D-6
    @Test(arguments: identifiers.map { ($0.key, $0.value) })
    func namesTheProcessorAndItsParameters(_ identifier: String, _ processor: any ImageProcessor) {
        #expect(processor.identifier == Self.prefix + identifier)
    }

    @Test func isEmptyForTheDefaultProcessorOnly() {
        #expect(DefaultImageProcessor.default.identifier.isEmpty)
    }

    /// Upstream: testProcessorConcating
    @Test func joinsTwoAndThreeProcessors() {
        let blur = BlurImageProcessor(blurRadius: 8)
        let round = RoundCornerImageProcessor(cornerRadius: 20)
        let bw = BlackWhiteProcessor()
        let two = (blur |> round).identifier
        #expect(two == "\(blur.identifier)|>\(round.identifier)")
        #expect((blur |> round |> bw).identifier == "\(two)|>\(bw.identifier)")
        #expect(blur.append(another: bw).identifier == "\(blur.identifier)|>\(bw.identifier)")
    }

    /// Upstream: testParsingColorRGBA
    @Test func printsExtendedAndGreyColors() {
        let extended = Color(red: 1.2, green: -0.25, blue: 0.5, alpha: 0.333)
        #expect(extended.identifier == "(1.20,-0.25,0.50,0.33)")
        #expect(Color(white: 0.5).identifier == "(0.50,0.50,0.50,1.00)")
    }

    @Test func numbersBlendModesLikeCoreGraphics() {
        let names = [
            "normal", "multiply", "screen", "overlay", "darken", "lighten", "colorDodge",
            "colorBurn", "softLight", "hardLight", "difference", "exclusion", "hue", "saturation",
            "color", "luminosity", "clear", "copy", "sourceIn", "sourceOut", "sourceAtop",
            "destinationOver", "destinationIn", "destinationOut", "destinationAtop", "xor",
            "plusDarker", "plusLighter",
        ]
        #expect(BlendMode.allCases.map(\.name) == names)
        #expect(BlendMode.allCases.map { Int($0.rawValue) } == Array(0...27))
    }
}
