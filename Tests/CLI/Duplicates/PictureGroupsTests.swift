import Foundation
import Halcyon
import HalcyonWork
import Testing

@testable import HalcyonCLI

@Suite struct PictureGroupsTests {
    private func picture(
        _ path: String, _ width: Int = 400, _ height: Int = 300, hash: UInt64 = 0,
        opacity: UInt64? = nil, average: Color = .gray
    ) -> FoundPicture {
        FoundPicture(
            path: FilePath(bytes: Array(path.utf8))!, size: PixelSize(width: width, height: height),
            format: .JPEG, byteCount: 1000, hash: PerceptualHash(bits: hash),
            opacityHash: opacity.map { PerceptualHash(bits: $0) }, average: average)
    }

    private func paths(_ pictures: [FoundPicture], distance: Int = 8) -> [[String]] {
        PictureGroup.groups(of: pictures, distance: distance).map {
            $0.pictures.map(\.path.description)
        }
    }

    @Test func theLargestComesFirstAndGroupsAreInOrder() {
        let pictures = [
            picture("z-small", 40, 30, hash: 0xff00), picture("z-large", 800, 600, hash: 0xff00),
            picture("b", hash: 0xff_0000_0000), picture("a", hash: 0xff_0000_0001),
            picture("alone", hash: .max),
        ]
        #expect(paths(pictures) == [["a", "b"], ["z-large", "z-small"]])
    }

    @Test func theDistanceIsTheLimit() {
        let pictures = [picture("a", 800, 600), picture("b", hash: 0xff)]
        #expect(paths(pictures, distance: 8) == [["a", "b"]])
        #expect(paths(pictures, distance: 7).isEmpty)
    }

    @Test func likenessIsNotHandedOn() {
        // Each is near the next, but the last is far from the first.
        let pictures = [
            picture("a", 800, 600), picture("b", 400, 300, hash: 0b1111),
            picture("c", 200, 150, hash: 0b1111_1111),
        ]
        #expect(paths(pictures, distance: 4) == [["a", "b"]])
    }

    @Test func proportionsMustBeTheSameButForRounding() {
        #expect(paths([picture("a", 640, 427), picture("b", 100, 67)]).count == 1)
        #expect(paths([picture("a", 400, 300), picture("b", 300, 400)]).isEmpty)
        #expect(paths([picture("a", 400, 300), picture("b", 400, 400)]).isEmpty)
    }

    @Test func plainPicturesOfOtherColorsAreOthers() {
        #expect(paths([picture("a", average: .red), picture("b", average: .blue)]).isEmpty)
    }

    @Test func shapesInOpacityAreComparedWhereBothHaveThem() {
        let (square, circle) = (picture("a", opacity: 0xffff), picture("b", opacity: 0))
        #expect(paths([square, circle]).isEmpty)
        #expect(paths([square, picture("c", opacity: 0xfffe)]) == [["a", "c"]])
        #expect(paths([square, picture("d")]) == [["a", "d"]])
    }
}
