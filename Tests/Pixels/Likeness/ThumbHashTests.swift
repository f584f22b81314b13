import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct ThumbHashTests {
    @Test(
        arguments: [
            (HashPicture.gradient, "3wcKNxpwd4eAeIiHiHiIeIiHCAeHcI8I"),
            (HashPicture.pattern, "2PoNNJpwd3d+eId3iIhzjwcHiA=="),
            // Most waves of its opacity are halfway between two levels but for the last digit of a cosine.
            (HashPicture.fading, "nueJLRQrYHdgeIh4h2BgB/aJj4iIiId4iA=="),
        ])
    func writesWhatOtherProgramsWrite(_ bitmap: Bitmap, _ hash: String) throws {
        #expect(ThumbHash(bitmap).description == hash)
        #expect(try ThumbHash(hash) == ThumbHash(bitmap))
        #expect(try ThumbHash(hash.replacing("=", with: "")).description == hash)
    }

    /// By V8 11, which calculates by fdlibm; glibc has another last digit for each.
    @Test(
        arguments: [
            (0.7363107781851077, 0.7409511253549592), (2.110757564130642, -0.5141027441932216),
            (4.221515128261284, -0.4713967368259979), (5.595961914206819, 0.7730104533627365),
            (6.872233929727672, 0.8314696123025456), (15.020739874976199, -0.7730104533627369),
            (0, 1), (Double.pi / 4, 0.7071067811865476), (20.371327861, 0.04900475223510974),
        ] as [(Double, Double)])
    func wavesAreThoseOfEnginesOfJavaScript(_ angle: Double, _ expected: Double) {
        #expect(PortableCosine.cosine(angle) == expected)
    }

    @Test func showsThePictureWithoutItsDetails() throws {
        let hash = ThumbHash(HashPicture.gradient)
        let shown = hash.bitmap()
        #expect(shown.size == PixelSize(width: 32, height: 32) && !shown.hasAlpha)
        for (x, y) in [(4, 4), (16, 16), (27, 5), (5, 27)] {
            #expect(shown[x, y].isNear(HashPicture.gradient[x, y], within: 0.15))
        }
    }

    @Test func knowsProportionsAndOpacity() throws {
        let landscape = ThumbHash(HashPicture.pattern)
        #expect(landscape.bitmap().size == PixelSize(width: 32, height: 18))
        #expect(abs(landscape.aspectRatio - 7.0 / 4) < 1e-9 && !landscape.hasAlpha)
        #expect(landscape.bitmap(longestSide: 70).size == PixelSize(width: 70, height: 40))

        let portrait = HashPicture.bitmap(10, 50) { _, y in [5 * y, 0, 0, 255] }
        #expect(ThumbHash(portrait).bitmap().size == PixelSize(width: 5, height: 32))

        let fading = ThumbHash(HashPicture.fading)
        let shown = fading.bitmap()
        #expect(fading.hasAlpha && shown.hasAlpha)
        #expect(shown[0, 16].alpha > 0.9 && shown[31, 16].alpha < 0.6)
        #expect(abs(fading.averageColor.alpha - (255 - 62.0) / 255) < 1.0 / 15)
    }

    @Test func theAverageIsThatOfAPlainPicture() {
        let color = ThumbHash(HashPicture.plain).averageColor
        #expect(color.isNear(HashPicture.plain[0, 0], within: 0.03) && color.alpha == 1)
    }

    @Test func aClearPictureIsClear() {
        let clear = ThumbHash(HashPicture.bitmap(4, 4) { _, _ in [200, 100, 50, 0] })
        #expect(clear.hasAlpha && clear.averageColor.alpha == 0 && clear.bitmap()[3, 3].alpha == 0)
    }

    @Test(arguments: [
        ("", "at least 5"), ("AAAA", "at least 5"), ("not base 64!", "base 64"),
        ("AAAAAAA=", "one side is 0"), ("2PoNNJpwd3d+eId3iIhzjwcHiIg=", "by its head"),
    ])
    func saysWhyATextIsNone(_ text: String, _ problem: String) {
        let error = #expect(throws: MalformedHash.self) { try ThumbHash(text) }
        #expect(error?.description.contains(problem) == true)
    }

    @Test func anyBytesAreAHashOrRefused() throws {
        var random = SeededGenerator(state: 7)
        var readable = 0
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<36, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            guard let hash = try? ThumbHash(data: Data(bytes)) else { continue }
            readable += 1
            #expect(hash.bitmap(longestSide: 8).size.longestSide == 8)
        }
        #expect(readable > 0)
    }

    @Test func aHashOfASliceIsThatOfItsBytes() throws {
        let hash = ThumbHash(HashPicture.pattern)
        let slice = (Data([1, 2, 3]) + hash.data).dropFirst(3)
        #expect(try ThumbHash(data: slice).bitmap().data == hash.bitmap().data)
    }

    @Test func anImageIsReducedFirst() async throws {
        let photo = Picture(width: 400, height: 200) { x, _ in SIMD4(Double(x) / 400, 0.2, 0.2, 1) }
        let hash = try await photo.image(hasAlpha: false).kf.thumbHash()
        #expect(hash.aspectRatio > 1.5 && !hash.hasAlpha)
        let shown = hash.bitmap()
        #expect(shown[1, 8].red < 0.25 && shown[30, 8].red > 0.75)
    }
}
