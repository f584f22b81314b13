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
        (" bw |> blur : 3 ", "BlackWhiteProcessor|>com.onevcat.Kingfisher.BlurImageProcessor(3.0)"),
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
        "trim:256", "trim:up", "trim:white:5", "pad:-1", "pad:1,2", "pad:1,2,3,4,5", "canvas:10",
        "gaussian:-1", "sharpen", "pixelate:x", "gray:1", "bitonal:2",
    ])
    func refusesValuesThatMakeNoSense(_ text: String) {
        #expect(throws: ImageProcessorSpec.ParsingError.self) { try ImageProcessorSpec.parse(text) }
    }

    @Test func describesEveryProcessorOnce() {
        let names = ImageProcessors.all.map { $0.textForm.name }
        #expect(Set(names).count == names.count)
        #expect(ImageProcessorSpec.reference.count == names.count)
        for (entry, name) in zip(ImageProcessorSpec.reference, names) {
            #expect(entry.form.hasPrefix(name) && entry.summary.hasSuffix("."))
        }
    }

    /// What every processor may be told: lengths, fractions, colours and modes of blending.
    private static let forms = [
        "resize:$Lx$L", "resize:$Lx$L:fit", "resize:$Lx$L:fill", "downsample:$Lx$L",
        "crop:$Lx$L:$F,$F", "round:$L", "round:w$F:$Lx$L:$C", "round:h$F:topLeft+bottomRight:$C",
        "border:$L:$C:$L", "border:$L:$C:w$F:topRight", "blur:$L", "overlay:$C:$F", "tint:$C",
        "color:$F,$L,$F,$F", "blend:$M", "blend:$M:$F:$C", "flip:both", "flip:none",
        "rotate:-$L", "rotate:$L:$C", "region:$Lx$L:-$L,$L", "focus:$Lx$L:$F,$F",
        "smartcrop:$Lx$L", "smartcrop:$Lx$L:entropy", "trim:$F", "trim:$F:$C:both",
        "trim:vertical", "pad:$L", "pad:$L,0,$L,$L:$C", "canvas:$Lx$L", "canvas:$Lx$L:$F,$F:$C",
        "gaussian:$L", "sharpen:$L", "pixelate:$L", "gray", "bitonal:$F", "bw",
    ]

    /// A form with values in place of its marks.
    private static func filled(_ form: String, by random: inout SeededGenerator) -> String {
        let parts = form.split(separator: "$", omittingEmptySubsequences: false)
        var text = String(parts[0])
        for part in parts.dropFirst() {
            let isRound = Bool.random(using: &random)
            switch part.first {
            case "L" where isRound: text += "\(Int.random(in: 1...500, using: &random))"
            case "L": text += "\(Double.random(in: 1e-9...1e9, using: &random))"
            case "F" where isRound: text += ["0", "0.5", "1"].randomElement(using: &random)!
            case "F": text += "\(Double.random(in: 0...1, using: &random))"
            case "M": text += BlendMode.allCases.randomElement(using: &random)!.name
            default:
                let bytes = UInt32.random(in: 0...UInt32.max, using: &random)
                text += "#" + String(format: "%08x", bytes)
            }
            text += part.dropFirst()
        }
        return text
    }

    @Test(arguments: 0..<200)
    func printsWhatItReads(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed))
        var steps: [String] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let form = Self.forms.randomElement(using: &random)!
            steps.append(Self.filled(form, by: &random))
        }
        let processor = try ImageProcessorSpec.parse(steps)
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
        let foreign = ClosureProcessor { _, _ in nil }
        #expect(ImageProcessorSpec.text(of: foreign) == nil)
        #expect(ImageProcessorSpec.text(of: BlackWhiteProcessor() |> foreign) == nil)
    }
}
