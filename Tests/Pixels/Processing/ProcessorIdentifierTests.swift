import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ProcessorIdentifierTests {
    private static let prefix = "com.onevcat.Kingfisher."
    private static let size = CGSize(width: 20, height: 40)
    private static let red = Color.red

    private static let identifiers: KeyValuePairs<String, any ImageProcessor> = [
        "RoundCornerImageProcessor(20.0)": RoundCornerImageProcessor(cornerRadius: 20),
        "RoundCornerImageProcessor(20.0_(20.0, 40.0))":
            RoundCornerImageProcessor(cornerRadius: 20, targetSize: size),
        "RoundCornerImageProcessor(w_frac_0.5_corner(9))":
            RoundCornerImageProcessor(
                radius: .widthFraction(0.5), roundingCorners: [.topLeft, .bottomRight]),
        "RoundCornerImageProcessor(h_frac_0.5_(20.0, 40.0)_corner(2))_(1.00,0.00,0.00,1.00)":
            RoundCornerImageProcessor(
                radius: .heightFraction(0.5), targetSize: size, roundingCorners: .topRight,
                backgroundColor: red),
        "BlendImageProcessor(1,1.0)": BlendImageProcessor(blendMode: .multiply),
        "BlendImageProcessor(27,0.5)_(1.00,0.00,0.00,1.00)":
            BlendImageProcessor(blendMode: .plusLighter, alpha: 0.5, backgroundColor: red),
        "BorderImageProcessor((0.00,0.00,0.00,1.00)_4.0_0.0_)":
            BorderImageProcessor(border: Border()),
        "BorderImageProcessor((1.00,0.00,0.00,1.00)_1.5_w_frac_0.5__corner(4))":
            BorderImageProcessor(
                border: Border(
                    color: red, lineWidth: 1.5, radius: .widthFraction(0.5),
                    roundingCorners: .bottomLeft)),
        "ResizingImageProcessor((20.0, 40.0))": ResizingImageProcessor(referenceSize: size),
        "ResizingImageProcessor((20.0, 40.0), aspectFit)":
            ResizingImageProcessor(referenceSize: size, mode: .aspectFit),
        "ResizingImageProcessor((20.0, 40.0), aspectFill)":
            ResizingImageProcessor(referenceSize: size, mode: .aspectFill),
        "BlurImageProcessor(8.0)": BlurImageProcessor(blurRadius: 8),
        "OverlayImageProcessor((1.00,0.00,0.00,1.00)_0.5)": OverlayImageProcessor(overlay: red),
        "TintImageProcessor((1.00,0.00,0.00,1.00))": TintImageProcessor(tint: red),
        "ColorControlsProcessor(0.1_1.0_0.0_0.7)":
            ColorControlsProcessor(brightness: 0.1, contrast: 1, saturation: 0, inputEV: 0.7),
        "BlackWhiteProcessor": BlackWhiteProcessor(),
        "CroppingImageProcessor((20.0, 40.0)_(0.5, 0.5))": CroppingImageProcessor(size: size),
        "DownsamplingImageProcessor((20.0, 40.0))": DownsamplingImageProcessor(size: size),
        "FlippingImageProcessor(true_false)": FlippingImageProcessor(horizontally: true),
        "RotatingImageProcessor(-90.0)": RotatingImageProcessor(degrees: -90),
        "RotatingImageProcessor(12.5)_(1.00,0.00,0.00,1.00)":
            RotatingImageProcessor(degrees: 12.5, backgroundColor: red),
        "RegionImageProcessor((1.0, 2.0)_(20.0, 40.0))":
            RegionImageProcessor(region: CGRect(x: 1, y: 2, width: 20, height: 40)),
        "FocusCroppingImageProcessor((20.0, 40.0)_(0.25, 1.0))":
            FocusCroppingImageProcessor(size: size, focus: CGPoint(x: 0.25, y: 1)),
        "SmartCroppingImageProcessor((20.0, 40.0))": SmartCroppingImageProcessor(size: size),
        "SmartCroppingImageProcessor((20.0, 40.0), entropy)":
            SmartCroppingImageProcessor(size: size, interest: .entropy),
        "TrimmingImageProcessor(10.0_false_false)": TrimmingImageProcessor(),
        "TrimmingImageProcessor(3.0_false_true)_(1.00,0.00,0.00,1.00)":
            TrimmingImageProcessor(threshold: 3, color: red, isEvenVertically: true),
        "PaddingImageProcessor(1.0_2.0_3.0_4.0)_(1.00,0.00,0.00,1.00)":
            PaddingImageProcessor(top: 1, right: 2, bottom: 3, left: 4, backgroundColor: red),
        "CanvasImageProcessor((20.0, 40.0)_(0.5, 0.5))": CanvasImageProcessor(size: size),
        "GaussianBlurImageProcessor(0.5)": GaussianBlurImageProcessor(sigma: 0.5),
        "SharpeningImageProcessor(1.0)": SharpeningImageProcessor(sigma: 1),
        "PixelatingImageProcessor(8.0)": PixelatingImageProcessor(side: 8),
        "GrayscaleImageProcessor": GrayscaleImageProcessor(),
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
        #expect((blur |> round).identifier == "\(blur.identifier)|>\(round.identifier)")
        #expect(
            (blur |> round |> bw).identifier
                == "\(blur.identifier)|>\(round.identifier)|>\(bw.identifier)")
        #expect(blur.append(another: bw).identifier == "\(blur.identifier)|>\(bw.identifier)")
    }

    /// Upstream: testParsingColorRGBA
    @Test func printsExtendedAndGreyColors() {
        #expect(
            Color(red: 1.2, green: -0.25, blue: 0.5, alpha: 0.333).identifier
                == "(1.20,-0.25,0.50,0.33)")
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
