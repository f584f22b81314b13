import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// What holds for every processor and for several in a row.
@Suite struct ProcessorChainTests {
    static let processors: [any ImageProcessor] = [
        ResizingImageProcessor(referenceSize: CGSize(width: 9, height: 7), mode: .aspectFill),
        DownsamplingImageProcessor(size: CGSize(width: 6, height: 6)),
        CroppingImageProcessor(size: CGSize(width: 5, height: 5)),
        RoundCornerImageProcessor(cornerRadius: 3),
        RoundCornerImageProcessor(cornerRadius: 3, backgroundColor: .white),
        BorderImageProcessor(border: Border(color: .red, lineWidth: 1, radius: .point(2))),
        BlurImageProcessor(blurRadius: 2),
        OverlayImageProcessor(overlay: .blue),
        TintImageProcessor(tint: Color(red: 1, green: 0, blue: 0, alpha: 0.3)),
        ColorControlsProcessor(brightness: 0.1, contrast: 1.1, saturation: 0.8, inputEV: 0.2),
        BlackWhiteProcessor(),
        GaussianBlurImageProcessor(sigma: 0.7),
        SharpeningImageProcessor(sigma: 1),
        PixelatingImageProcessor(side: 2),
        FlippingImageProcessor(horizontally: true, vertically: true),
        RotatingImageProcessor(degrees: 90),
        RotatingImageProcessor(degrees: 20),
        PaddingImageProcessor(3, backgroundColor: .green),
        PaddingImageProcessor(top: 2, right: 1),
        CanvasImageProcessor(size: CGSize(width: 30, height: 20)),
        FocusCroppingImageProcessor(
            size: CGSize(width: 20, height: 14), focus: CGPoint(x: 0.2, y: 0.8)),
        SmartCroppingImageProcessor(size: CGSize(width: 18, height: 13)),
        RegionImageProcessor(region: CGRect(x: 0, y: 0, width: 17, height: 11)),
        WatermarkImageProcessor(
            Picture.noise(width: 5, height: 4).image(), name: "noise", opacity: 0.5,
            placement: .tiled(gap: CGSize(width: 1, height: 2))),
        GrayscaleImageProcessor(),
        BitonalImageProcessor(threshold: 0.3),
        BlendImageProcessor(blendMode: .multiply, backgroundColor: .yellow),
        BlendImageProcessor(blendMode: .hue, alpha: 0.5, backgroundColor: .yellow),
    ]

    @Test(arguments: PixelKind.all)
    func keepsItsWordAboutSizeAlphaAndDepth(_ kind: PixelKind) throws {
        for (width, height) in [(12, 10), (1, 1), (1, 8)] {
            for scale: CGFloat in [1, 2, 3] {
                let image = kind.image(kind.noise(width: width, height: height))
                for processor in Self.processors {
                    let result = try processor.applied(to: image, scale: scale)
                    let bitmap = try result.bitmap()
                    #expect(bitmap.size == result.pixelSize, "\(processor.identifier)")
                    #expect(bitmap.hasAlpha == result.hasAlpha, "\(processor.identifier)")
                    #expect(bitmap.depth == kind.depth, "\(processor.identifier)")
                }
            }
        }
    }

    /// What changes nothing is nothing to be rendered.
    @Test func givesBackTheImageThatNeedsNoChange() {
        let image = Picture.noise(width: 12, height: 8).image()
        let larger = CGSize(width: 12, height: 200)
        let unchanged: [(String, Image)] = [
            ("no room", image.kf.padded(top: 0, right: -3, bottom: .nan)),
            ("no larger canvas", image.kf.extended(to: CGSize(width: 12, height: 7))),
            ("less than a fifth of a pixel", image.kf.gaussianBlurred(sigma: 0.1)),
            ("a negative blur", image.kf.gaussianBlurred(sigma: -3)),
            ("no blur", image.kf.gaussianBlurred(sigma: .nan)),
            ("no sharpening", image.kf.sharpened(sigma: 0)),
            ("sharpening by no number", image.kf.sharpened(sigma: .nan)),
            ("squares of a pixel", image.kf.pixelated(side: 1)),
            ("negative squares", image.kf.pixelated(side: -4)),
            ("not flipped", image.kf.flipped()), ("turned twice", image.kf.rotated(degrees: 720)),
            ("a region around it", image.kf.crop(to: CGRect(x: -5, y: -5, width: 99, height: 99))),
            ("a larger focus", image.kf.crop(to: larger, around: CGPoint(x: 0.2, y: 0.2))),
            ("a larger smart crop", image.kf.smartCrop(to: larger)),
        ]
        for (name, result) in unchanged { #expect(result === image, "\(name)") }
    }

    /// Lengths of processors are points, those of images without a scale are pixels.
    @Test func countsPoints() throws {
        let image = Picture.noise(width: 12, height: 12).image()
        let corner = CGPoint(x: 1, y: 0)
        let processors: [(any ImageProcessor, Image)] = [
            (BlurImageProcessor(blurRadius: 2), image.kf.blurred(withRadius: 4)),
            (GaussianBlurImageProcessor(sigma: 1.5), image.kf.gaussianBlurred(sigma: 3)),
            (SharpeningImageProcessor(sigma: 0.75), image.kf.sharpened(sigma: 1.5)),
            (PixelatingImageProcessor(side: 2), image.kf.pixelated(side: 4)),
            (
                PaddingImageProcessor(top: 1, right: 2, bottom: 3, left: 0.5),
                image.kf.padded(top: 2, right: 4, bottom: 6, left: 1)
            ),
            (
                CanvasImageProcessor(size: CGSize(width: 10, height: 9)),
                image.kf.extended(to: CGSize(width: 20, height: 18))
            ),
            (
                CroppingImageProcessor(size: CGSize(width: 2, height: 3), anchor: corner),
                image.kf.crop(to: CGSize(width: 4, height: 6), anchorOn: corner)
            ),
        ]
        for (processor, expected) in processors {
            let result = try processor.applied(to: image, scale: 2)
            #expect(result.scale == 2)
            #expect(try result.bitmap().data == expected.bitmap().data, "\(processor.identifier)")
        }
    }

    @Test func rendersAChainAsItsStepsOneByOne() throws {
        for kind in PixelKind.all {
            let image = kind.image(kind.noise(width: 24, height: 18))
            let chain = Self.processors.dropFirst().reduce(Self.processors[0]) { $0 |> $1 }
            let together = try chain.applied(to: image)
            var stepwise = image
            for processor in Self.processors {
                stepwise = Image(bitmap: try processor.applied(to: stepwise).bitmap())
            }
            #expect(try together.bitmap().data == stepwise.bitmap().data)
        }
    }

    @Test func describesWorkAndRendersItOnce() throws {
        let count = Locked(0)
        let counter = ImageOperation { image, _ in
            count.withLock { $0 += 1 }
            return image
        }
        let image = Picture.noise(width: 10, height: 10).image().applying(counter)
        let result = image.kf.tinted(with: .red).kf.resize(to: CGSize(width: 5, height: 5))
            .kf.blurred(withRadius: 2).kf.addingBorder(Border())
        #expect(count.value == 0 && !result.isRendered)
        let first = try result.bitmap()
        #expect(count.value == 1)
        #expect(try result.bitmap().data == first.data)
        #expect(count.value == 1 && !image.isRendered)
    }

    @Test func processesEveryFrameOfAnAnimation() throws {
        let frames = (0..<3).map { index in
            Picture(width: 8, height: 8) { _, _ in SIMD4(Double(index) / 2, 0, 0, 1) }
        }
        let timing = AnimationTiming(durations: [0.1, 0.2, 0.3], loopCount: 2)
        let image = try #require(
            Image(frames: frames.map { $0.bitmap(hasAlpha: false) }, timing: timing))
        for processor in Self.processors {
            let result = try processor.applied(to: image)
            #expect(result.animation == timing && result.frameCount == 3)
            for index in 0..<3 {
                let still = try processor.applied(to: frames[index].image(hasAlpha: false))
                #expect(try result.bitmap(frame: index).data == still.bitmap().data)
            }
            #expect(try result.allBitmaps().count == 3)
        }
    }

    @Test func refusesBytesThatAreNoImage() {
        for processor in Self.processors {
            let item = ImageProcessItem.data(Data("no image".utf8))
            #expect(processor.process(item: item, options: .scale(1)) == nil)
        }
    }
}
