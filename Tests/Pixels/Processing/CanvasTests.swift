import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct CanvasTests {
    @Test(arguments: PixelKind.all)
    func addsRoomAtEachEdge(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 4, height: 3))
        let source = try Picture(image)
        for color: Color? in [nil, .red, Color(red: 0, green: 0, blue: 1, alpha: 0.25)] {
            let padded = image.kf.padded(
                top: 1, right: 2, bottom: 3, left: 4, backgroundColor: color)
            #expect(padded.pixelSize == PixelSize(width: 10, height: 7))
            #expect(padded.hasAlpha == ((color?.alpha ?? 0) < 1))
            let paint = color?.vector ?? .zero
            let expected = Picture(width: 10, height: 7) { x, y in
                guard (4..<8).contains(x), (1..<4).contains(y) else { return paint }
                return ColorEffectTests.over(source[x - 4, y - 1], paint)
            }
            #expect(try Picture(padded).difference(to: expected) <= kind.step * 2)
        }
    }

    @Test(arguments: [
        (CGPoint(x: 0, y: 0), 0, 0), (CGPoint(x: 1, y: 1), 6, 2), (CGPoint(x: 0.5, y: 0.5), 3, 1),
        (CGPoint(x: -2, y: 0.75), 0, 2),
    ])
    func putsTheImageWhereTheAnchorSays(_ anchor: CGPoint, _ left: Int, _ top: Int) throws {
        let image = Picture.noise(width: 4, height: 3, hasAlpha: false).image(hasAlpha: false)
        let source = try Picture(image)
        let result = try Picture(
            image.kf.extended(
                to: CGSize(width: 10, height: 5), anchorOn: anchor, backgroundColor: .white))
        let expected = Picture(width: 10, height: 5) { x, y in
            (left..<(left + 4)).contains(x) && (top..<(top + 3)).contains(y)
                ? source[x - left, y - top] : .one
        }
        #expect(result.difference(to: expected) == 0)
    }

    @Test func onlyTheSmallerSideIsExtended() {
        let image = Picture.noise(width: 40, height: 3).image()
        let result = image.kf.extended(to: CGSize(width: 10, height: 10))
        #expect(result.pixelSize == PixelSize(width: 40, height: 10))
    }

    @Test func whatIsTooLargeIsRefusedWhenItIsDrawn() {
        let image = Picture.noise(width: 4, height: 3).image()
        let padded = image.kf.padded(top: 1e9, right: 1e9)
        #expect(throws: ImageCodingError.self) { try padded.bitmap() }
    }
}
