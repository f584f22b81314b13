import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ImageProcessorSpecTests {
    @Test(arguments: [
        ("resize:200x100", "ResizingImageProcessor((200.0, 100.0))"),
        ("resize:200x100:fit", "ResizingImageProcessor((200.0, 100.0), aspectFit)"),
        ("downsample:400x300.5", "DownsamplingImageProcessor((400.0, 300.5))"),
        ("crop:100x100:0,1", "CroppingImageProcessor((100.0, 100.0)_(0.0, 1.0))"),
        ("round:20", "RoundCornerImageProcessor(20.0)"),
        ("round:w0.5", "RoundCornerImageProcessor(w_frac_0.5)"),
        (
            "round:20:topLeft+bottomRight:#ffffff",
            "RoundCornerImageProcessor(20.0_corner(9))_(1.00,1.00,1.00,1.00)"
        ),
        ("round:h0.25:30x20", "RoundCornerImageProcessor(h_frac_0.25_(30.0, 20.0))"),
        ("border:4:#f00:12", "BorderImageProcessor((1.00,0.00,0.00,1.00)_4.0_12.0_)"),
        ("border:2", "BorderImageProcessor((0.00,0.00,0.00,1.00)_2.0_0.0_)"),
        ("blur:8", "BlurImageProcessor(8.0)"),
        ("overlay:#ff0000:0.25", "OverlayImageProcessor((1.00,0.00,0.00,1.00)_0.25)"),
        ("tint:#ff000080", "TintImageProcessor((1.00,0.00,0.00,0.50))"),
        ("color:0.1,1,0.5,-1", "ColorControlsProcessor(0.1_1.0_0.5_-1.0)"),
        ("color:s=0.5,b=0.1", "ColorControlsProcessor(0.1_1.0_0.5_0.0)"),
        ("bw", "BlackWhiteProcessor"),
        ("blend:multiply:0.5:#808080", "BlendImageProcessor(1,0.5)_(0.50,0.50,0.50,1.00)"),
        ("flip:both", "FlippingImageProcessor(true_true)"),
        ("rotate:-90", "RotatingImageProcessor(-90.0)"),
        ("rotate:12.5:white", "RotatingImageProcessor(12.5)_(1.00,1.00,1.00,1.00)"),
        ("region:30x20:5,-6", "RegionImageProcessor((5.0, -6.0)_(30.0, 20.0))"),
        ("focus:30x20:0.25,1", "FocusCroppingImageProcessor((30.0, 20.0)_(0.25, 1.0))"),
        ("smartcrop:30x20", "SmartCroppingImageProcessor((30.0, 20.0))"),
        ("smartcrop:30x20:attention", "SmartCroppingImageProcessor((30.0, 20.0))"),
        ("smartcrop:30x20:entropy", "SmartCroppingImageProcessor((30.0, 20.0), entropy)"),
        ("trim", "TrimmingImageProcessor(10.0_false_false)"),
        (
            "trim:25:white:horizontal",
            "TrimmingImageProcessor(25.0_true_false)_(1.00,1.00,1.00,1.00)"
        ),
        ("trim:both", "TrimmingImageProcessor(10.0_true_true)"),
        ("pad:10", "PaddingImageProcessor(10.0_10.0_10.0_10.0)"),
        ("pad:1,2,3,4:black", "PaddingImageProcessor(1.0_2.0_3.0_4.0)_(0.00,0.00,0.00,1.00)"),
        (
            "canvas:30x20:1,0:#fff",
            "CanvasImageProcessor((30.0, 20.0)_(1.0, 0.0))_(1.00,1.00,1.00,1.00)"
        ),
        ("gaussian:0.5", "GaussianBlurImageProcessor(0.5)"),
        ("sharpen:1", "SharpeningImageProcessor(1.0)"),
        ("pixelate:8", "PixelatingImageProcessor(8.0)"),
        ("gray", "GrayscaleImageProcessor"),
        ("bitonal", "BitonalImageProcessor(0.5)"),
        ("bitonal:0.25", "BitonalImageProcessor(0.25)"),
        (
            " bw |> blur : 3 ",
            "BlackWhiteProcessor|>com.onevcat.Kingfisher.BlurImageProcessor(3.0)"
        ),
    ])
    func readsProcessors(_ text: String, _ identifier: String) throws {
        let processor = try ImageProcessorSpec.parse(text)
        #expect(processor.identifier == "com.onevcat.Kingfisher." + identifier)
    }

    @Test func putsSeveralTextsInOrder() throws {
        let processor = try ImageProcessorSpec.parse(["bw", "blur:3|>round:4"])
        #expect(ImageProcessorSpec.text(of: processor) == "bw|>blur:3|>round:4")
    }

    private static let problems: KeyValuePairs<String, String> = [
        "resize:200:fit":
            "size: “200” is not a size such as 200x100 (expected resize:WIDTHxHEIGHT[:fit|fill|none])",
        "resize:20x10:crop":
            "mode: “crop” is not fit, fill or none (expected resize:WIDTHxHEIGHT[:fit|fill|none])",
        "blur": "radius: a length in points is missing (expected blur:RADIUS)",
        "blur:-1": "radius: “-1” is not a length in points (expected blur:RADIUS)",
        "bw:1": "arguments: “1” is one too many (expected bw)",
        "overlay:#ff:0.5":
            "color: “#ff” is not a colour such as #ff0000 or #ff000080 "
            + "(expected overlay:COLOR[:FRACTION])",
        "overlay:#ff0000:2":
            "fraction: “2” is not a number from 0 to 1 (expected overlay:COLOR[:FRACTION])",
        "flip:up":
            "direction: “up” is not horizontal, vertical, both or none "
            + "(expected flip:horizontal|vertical|both|none)",
        "rotate:left":
            "angle: “left” is not a number of degrees (expected rotate:DEGREES[:COLOR])",
        "pad:1,2":
            "lengths: “1,2” is not one length, or four such as 10,0,10,0 "
            + "(expected pad:LENGTH|TOP,RIGHT,BOTTOM,LEFT[:COLOR])",
        "region:5x5":
            "place: a place such as 20,10 is missing (expected region:WIDTHxHEIGHT:X,Y)",
        "round:3:up":
            "size or corners or color: “up” is not a size such as 200x100 or corners such "
            + "as topLeft+bottomRight or a colour such as #ff0000 or #ff000080 "
            + "(expected round:RADIUS[:WIDTHxHEIGHT][:CORNERS][:COLOR])",
    ]

    @Test(arguments: problems.map { ($0.key, $0.value) })
    func saysWhatIsWrongAndWhatIsExpected(_ text: String, _ problem: String) {
        let error = #expect(throws: ImageProcessorSpec.ParsingError.self) {
            try ImageProcessorSpec.parse(text)
        }
        let name = text.prefix { $0 != ":" }
        #expect(error?.description == "\(name): \(problem)")
    }

    @Test(arguments: ["", "bw|>", "emboss:3", ":"])
    func listsTheProcessorsWhenOneIsUnknown(_ text: String) {
        let error = #expect(throws: ImageProcessorSpec.ParsingError.self) {
            try ImageProcessorSpec.parse(text)
        }
        #expect(error?.parameter == nil)
        for type in ImageProcessors.all {
            #expect(error?.expected.contains(type.textForm.name) == true)
        }
    }

    @Test(arguments: [
        "resize:0x10", "resize:-5x10", "resize:nanx10", "resize:infx1", "resize:0x10x20", "crop:1x",
        "resize:1x1:fit:fill", "crop:10x10:2,0", "tint:#gggggg", "tint:", "color:1,2,3",
        "color:q=1", "blend:over", "blur:1e400", "blur:0x10", "border:3:#000:w-1", "round:n",
        "flip", "flip:left", "rotate:", "rotate:1x", "rotate:90:#12", "region:10x10",
        "region:0x10:0,0", "focus:10x10", "focus:10x10:2,0", "smartcrop:10", "smartcrop:10x10:eyes",
        "trim:256",
        "trim:up", "trim:white:5", "pad:-1", "pad:1,2", "pad:1,2,3,4,5", "canvas:10",
        "gaussian:-1", "sharpen", "pixelate:x", "gray:1", "bitonal:2",
    ])
    func refusesValuesThatMakeNoSense(_ text: String) {
        #expect(throws: ImageProcessorSpec.ParsingError.self) {
            try ImageProcessorSpec.parse(text)
        }
    }

    @Test func describesEveryProcessorOnce() {
        let names = ImageProcessors.all.map { $0.textForm.name }
        #expect(Set(names).count == names.count)
        #expect(ImageProcessorSpec.reference.count == names.count)
        for (entry, name) in zip(ImageProcessorSpec.reference, names) {
            #expect(entry.form.hasPrefix(name))
            #expect(entry.summary.hasSuffix("."))
        }
    }

    @Test(arguments: 0..<200)
    func printsWhatItReads(_ seed: Int) throws {
        var random = RandomProcessors(seed: UInt64(seed))
        let chain = (0..<Int.random(in: 1...4, using: &random.generator)).map { _ in random.next() }
        let processor = chain.dropFirst().reduce(chain[0]) { $0 |> $1 }
        let text = try #require(ImageProcessorSpec.text(of: processor))
        let read = try ImageProcessorSpec.parse(text)
        #expect(read.identifier == processor.identifier)
        #expect(ImageProcessorSpec.text(of: read) == text)
    }

    @Test func keepsColorsExactly() throws {
        for color in [
            Color(red: 0.1, green: 1.2, blue: -0.3, alpha: 0.123456789), .clear, .gray,
            Color(red: 1.0 / 255, green: 254.0 / 255, blue: 0, alpha: 1),
        ] {
            let text = try #require(ImageProcessorSpec.text(of: TintImageProcessor(tint: color)))
            #expect(try (ImageProcessorSpec.parse(text) as? TintImageProcessor)?.tint == color)
        }
    }

    @Test func hasNoTextForForeignProcessors() {
        struct Foreign: ImageProcessor {
            let identifier = "foreign"
            func process(
                item: ImageProcessItem, options: KingfisherParsedOptionsInfo
            ) -> KFCrossPlatformImage? { nil }
        }
        #expect(ImageProcessorSpec.text(of: Foreign()) == nil)
        #expect(ImageProcessorSpec.text(of: BlackWhiteProcessor() |> Foreign()) == nil)
    }
}

/// Processors with any parameters that the text form can express.
private struct RandomProcessors {
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(state: seed)
    }

    mutating func next() -> any ImageProcessor {
        switch Int.random(in: 0...24, using: &generator) {
        case 0: ResizingImageProcessor(referenceSize: size(), mode: mode())
        case 1: DownsamplingImageProcessor(size: size())
        case 2:
            CroppingImageProcessor(size: size(), anchor: CGPoint(x: fraction(), y: fraction()))
        case 3:
            RoundCornerImageProcessor(
                radius: radius(), targetSize: flag() ? size() : nil, roundingCorners: corners(),
                backgroundColor: flag() ? color() : nil)
        case 4:
            BorderImageProcessor(
                border: Border(
                    color: color(), lineWidth: length(), radius: radius(),
                    roundingCorners: corners()))
        case 5: BlurImageProcessor(blurRadius: length())
        case 6: OverlayImageProcessor(overlay: color(), fraction: fraction())
        case 7: TintImageProcessor(tint: color())
        case 8:
            ColorControlsProcessor(
                brightness: fraction() - 0.5, contrast: length(), saturation: fraction(),
                inputEV: fraction() - 0.5)
        case 9:
            BlendImageProcessor(
                blendMode: BlendMode.allCases.randomElement(using: &generator)!,
                alpha: fraction(), backgroundColor: flag() ? color() : nil)
        case 10: FlippingImageProcessor(horizontally: flag(), vertically: flag())
        case 11:
            RotatingImageProcessor(
                degrees: fraction() * 720 - 360, backgroundColor: flag() ? color() : nil)
        case 12:
            RegionImageProcessor(
                region: CGRect(origin: CGPoint(x: -length(), y: length()), size: size()))
        case 13:
            FocusCroppingImageProcessor(
                size: size(), focus: CGPoint(x: fraction(), y: fraction()))
        case 14:
            SmartCroppingImageProcessor(
                size: size(),
                interest: CroppingInterest.allCases.randomElement(using: &generator)!)
        case 15:
            TrimmingImageProcessor(
                threshold: fraction() * 255, color: flag() ? color() : nil,
                isEvenHorizontally: flag(), isEvenVertically: flag())
        case 16: PaddingImageProcessor(length(), backgroundColor: flag() ? color() : nil)
        case 17:
            PaddingImageProcessor(
                top: length(), right: 0, bottom: length(), left: length(),
                backgroundColor: flag() ? color() : nil)
        case 18:
            CanvasImageProcessor(
                size: size(), anchor: CGPoint(x: fraction(), y: fraction()),
                backgroundColor: flag() ? color() : nil)
        case 19: GaussianBlurImageProcessor(sigma: length())
        case 20: SharpeningImageProcessor(sigma: length())
        case 21: PixelatingImageProcessor(side: length())
        case 22: GrayscaleImageProcessor()
        case 23: BitonalImageProcessor(threshold: fraction())
        default: BlackWhiteProcessor()
        }
    }

    private mutating func flag() -> Bool { Bool.random(using: &generator) }

    private mutating func fraction() -> CGFloat {
        flag()
            ? [0, 0.5, 1].randomElement(using: &generator)! : .random(in: 0...1, using: &generator)
    }

    private mutating func length() -> CGFloat {
        flag()
            ? CGFloat(Int.random(in: 1...500, using: &generator))
            : .random(in: 1e-9...1e9, using: &generator)
    }

    private mutating func size() -> CGSize { CGSize(width: length(), height: length()) }

    private mutating func mode() -> ContentMode {
        [.none, .aspectFit, .aspectFill].randomElement(using: &generator)!
    }

    private mutating func radius() -> Radius {
        [.point(length()), .widthFraction(fraction()), .heightFraction(fraction())]
            .randomElement(using: &generator)!
    }

    private mutating func corners() -> RectCorner {
        RectCorner(rawValue: Int.random(in: 0...15, using: &generator))
    }

    private mutating func color() -> Color {
        if flag() {
            let bytes = (0..<4).map { _ in CGFloat(UInt8.random(in: 0...255, using: &generator)) }
            return Color(
                red: bytes[0] / 255, green: bytes[1] / 255, blue: bytes[2] / 255,
                alpha: bytes[3] / 255)
        }
        return Color(red: fraction(), green: fraction(), blue: fraction(), alpha: fraction())
    }
}
