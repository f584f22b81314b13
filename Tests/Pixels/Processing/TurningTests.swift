import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct TurningTests {
    @Test(arguments: PixelKind.all)
    func mirrorsEveryPixel(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 5, height: 3))
        let source = try Picture(image)
        for (across, down) in [(true, false), (false, true), (true, true)] {
            let result = try Picture(image.kf.flipped(horizontally: across, vertically: down))
            let expected = Picture(width: 5, height: 3) { x, y in
                source[across ? 4 - x : x, down ? 2 - y : y]
            }
            #expect(result == expected)
        }
    }

    @Test(arguments: PixelKind.all)
    func turnsByQuartersWithoutLosingAPixel(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 5, height: 3))
        let source = try Picture(image)
        for (degrees, turns) in [
            (90.0, 1), (180, 2), (270, 3), (-90, 3), (450, 1), (-630, 1), (360, 0), (0, 0),
        ] {
            let result = try Picture(image.kf.rotated(degrees: degrees, backgroundColor: .red))
            let isLevel = turns % 2 == 0
            let expected = Picture(width: isLevel ? 5 : 3, height: isLevel ? 3 : 5) { x, y in
                switch turns {
                case 1: source[y, 2 - x]
                case 2: source[4 - x, 2 - y]
                case 3: source[4 - y, x]
                default: source[x, y]
                }
            }
            #expect(result == expected)
        }
    }

    @Test(arguments: [
        (100, 100, 45.0, 142, 142), (100, 50, 30, 112, 94), (40, 40, 1, 41, 41),
        (1, 1, 45, 2, 2), (300, 10, 60, 159, 265), (100, 50, 180.5, 101, 51),
    ])
    func growsToHoldAllOfASlantingImage(
        _ width: Int, _ height: Int, _ degrees: Double, _ wider: Int, _ higher: Int
    ) throws {
        let image = Picture.noise(width: width, height: height, hasAlpha: false)
            .image(hasAlpha: false)
        let result = image.kf.rotated(degrees: degrees)
        #expect(result.pixelSize == PixelSize(width: wider, height: higher))
        #expect(try result.bitmap().size == result.pixelSize)
        #expect(try result.hasAlpha && result.bitmap()[0, 0].alpha < 0.5)
    }

    @Test func aGradientKeepsItsMiddleAndTurnsClockwise() throws {
        // The value is the distance from the left; turned by an angle, it is that along the turned axis.
        let picture = Picture(width: 101, height: 101) { x, _ in SIMD4(Double(x) / 255, 0, 0, 1) }
        let angle = 20.0 * .pi / 180
        let result = try Picture(picture.image(hasAlpha: false).kf.rotated(degrees: 20))
        let middle = Double(result.width) / 2 - 0.5
        for (x, y) in [(40, 60), (64, 64), (80, 50), (60, 90)] {
            let (dx, dy) = (Double(x) - middle, Double(y) - middle)
            let expected = (50 + dx * cos(angle) + dy * sin(angle)) / 255
            #expect(abs(result[x, y].x - expected) <= 1.0 / 255 && result[x, y].w == 1)
        }
    }

    @Test(arguments: PixelKind.all)
    func showsTheBackgroundInTheCorners(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 20, height: 10))
        let result = image.kf.rotated(degrees: 30, backgroundColor: .green)
        #expect(!result.hasAlpha)
        let picture = try Picture(result)
        #expect(picture[0, 0] == SIMD4(0, 1, 0, 1))
        let glass = image.kf.rotated(
            degrees: 30, backgroundColor: Color(red: 0, green: 1, blue: 0, alpha: 0.5))
        #expect(try glass.hasAlpha && abs(glass.bitmap()[0, 0].alpha - 0.5) < 0.01)
    }
}
