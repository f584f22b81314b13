import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Rectangles by their place, around a point, and where the eye falls.
@Suite struct CroppingPlacesTests {
    /// A picture whose pixels tell where they are, up to 256×256 exactly.
    private static func coordinates(_ width: Int, _ height: Int) -> Image {
        Picture(width: width, height: height) { x, y in
            SIMD4(Double(x % 256) / 255, Double(y % 256) / 255, Double(x / 256) / 255, 1)
        }.image(hasAlpha: false)
    }

    /// Where the first pixel of a picture was.
    private static func origin(of image: Image) throws -> [Int] {
        let pixel = try image.bitmap()[0, 0]
        let (low, y, high) = (pixel.red * 255, pixel.green * 255, pixel.blue * 255)
        return [Int(low.rounded()) + 256 * Int(high.rounded()), Int(y.rounded())]
    }

    @Test(arguments: PixelKind.all)
    func cutsOutTheRegion(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 9, height: 7))
        let source = try Picture(image)
        let result = try Picture(image.kf.crop(to: CGRect(x: 2, y: 3, width: 4, height: 2)))
        let expected = Picture(width: 4, height: 2) { source[$0 + 2, $1 + 3] }
        #expect(result == expected)
    }

    @Test func whatLiesOutsideIsLeftOut() throws {
        let image = Self.coordinates(100, 80)
        let corner = image.kf.crop(to: CGRect(x: 90, y: 70, width: 100, height: 100))
        #expect(corner.pixelSize == PixelSize(width: 10, height: 10))
        #expect(try Self.origin(of: corner) == [90, 70])
        let beginning = image.kf.crop(to: CGRect(x: -5, y: -5, width: 10, height: 10))
        #expect(beginning.pixelSize == PixelSize(width: 5, height: 5))
    }

    @Test(arguments: [
        CGRect(x: 100, y: 0, width: 5, height: 5), CGRect(x: 0, y: -5, width: 5, height: 5),
        CGRect(x: 0, y: 0, width: 0, height: 5), CGRect.null,
        CGRect(x: CGFloat.nan, y: 0, width: 5, height: 5),
    ])
    func aRegionOutsideIsAnError(_ region: CGRect) {
        let image = Self.coordinates(100, 80).kf.crop(to: region)
        let error = #expect(throws: ImageCodingError.self) { try image.bitmap() }
        #expect(error?.description.contains("outside of the image") == true)
    }

    @Test(arguments: [
        (0.25, 0.75, 60, 270), (0, 0, 0, 0), (1, 1, 440, 327), (0.5, 0.5, 220, 164),
        (-3, 9, 0, 327),
    ])
    func theFocusIsInTheMiddleIfTheEdgesAllow(
        _ x: CGFloat, _ y: CGFloat, _ left: Int, _ top: Int
    ) throws {
        let image = Self.coordinates(640, 427)
        let result = image.kf.crop(to: CGSize(width: 200, height: 100), around: CGPoint(x: x, y: y))
        #expect(result.pixelSize == PixelSize(width: 200, height: 100))
        #expect(try Self.origin(of: result) == [left, top % 256])
    }

    /// A grey picture with a small colourful square.
    private static func scene(left: Int, top: Int) -> Picture {
        Picture(width: 200, height: 120) { x, y in
            guard (left..<(left + 24)).contains(x), (top..<(top + 24)).contains(y) else {
                return .grey(0.5)
            }
            return (x / 4 + y / 4) % 2 == 0 ? SIMD4(1, 0.2, 0.1, 1) : SIMD4(0.1, 0.1, 1, 1)
        }
    }

    @Test(arguments: [(10, 50), (90, 20), (160, 80)])
    func theSmartCropHasWhatIsSeenFirst(_ left: Int, _ top: Int) throws {
        let image = Self.scene(left: left, top: top).image(hasAlpha: false)
        let result = image.kf.smartCrop(to: CGSize(width: 60, height: 60))
        #expect(result.pixelSize == PixelSize(width: 60, height: 60))
        let colourful = try Picture(result).pixels.filter { $0.x != $0.z }.count
        #expect(colourful == 24 * 24)
    }

    /// Coarse colours catch the eye; grey grain of many levels has more entropy.
    @Test func theEntropyIsElsewhereThanTheAttention() throws {
        var random = SeededGenerator(state: 3)
        let grain = (0..<(60 * 60)).map { _ in Double.random(in: 0.3...0.7, using: &random) }
        let scene = Self.scene(left: 150, top: 40)
        let image = Picture(width: 200, height: 120) { x, y in
            x < 60 && (30..<90).contains(y) ? .grey(grain[(y - 30) * 60 + x]) : scene[x, y]
        }.image(hasAlpha: false)
        let size = CGSize(width: 60, height: 60)
        let processor = SmartCroppingImageProcessor(size: size, interest: .entropy)
        let pixels = try Picture(processor.applied(to: image)).pixels
        #expect(pixels.allSatisfy { $0.x == $0.z } && Set(pixels.map(\.x)).count > 50)
        #expect(try Picture(image.kf.smartCrop(to: size)).pixels.contains { $0.x != $0.z })
    }

    @Test func framesAreCutAtOnePlace() throws {
        // The square jumps to the other end in the second frame, where it is not to be seen then.
        let frames = [Self.scene(left: 10, top: 10), Self.scene(left: 170, top: 90)]
        let image = try #require(
            Image(
                frames: frames.map { $0.bitmap(hasAlpha: false) },
                timing: AnimationTiming(durations: [0.1, 0.1], loopCount: 0)))
        let result = image.kf.smartCrop(to: CGSize(width: 50, height: 50))
        let colourful = try (0..<2).map { index in
            try Picture(result, frame: index).pixels.filter { $0.x != $0.z }.count
        }
        #expect(result.frameCount == 2 && colourful == [24 * 24, 0])
    }

    @Test func regionsAreThoseOfThePictureAsItIsSeen() throws {
        // Stored lying on its side; one sees it turned to the right by a quarter.
        let stored = Picture(width: 64, height: 32) { x, _ in
            .grey(x < 32 ? 1 : 0)
        }.image(hasAlpha: false)
        let plain = try stored.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 1))
        let file = EXIFFixture.inserted(EXIFFixture.block(orientation: 6), into: plain)
        let image = try Image.decoding(file)
        #expect(image.pixelSize == PixelSize(width: 32, height: 64))
        let upper = try image.kf.crop(to: CGRect(x: 0, y: 0, width: 32, height: 20)).bitmap()
        #expect(upper[16, 10].red > 0.95)
        let turned = image.kf.rotated(degrees: 90)
        #expect(turned.pixelSize == PixelSize(width: 64, height: 32))
        // What was above is to the right.
        #expect(try turned.bitmap()[60, 16].red > 0.95 && turned.bitmap()[4, 16].red < 0.05)
    }
}
