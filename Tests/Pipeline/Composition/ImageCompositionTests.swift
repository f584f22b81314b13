import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ImageCompositionTests {
    private let red = SIMD4<Double>(1, 0, 0, 1)
    private let green = SIMD4<Double>(0, 1, 0, 1)
    private let blue = SIMD4<Double>(0, 0, 1, 1)
    private let white = SIMD4<Double>(1, 1, 1, 1)
    private let black = SIMD4<Double>(0, 0, 0, 1)

    private func solid(
        _ color: SIMD4<Double>, _ width: Int = 8, _ height: Int = 8, depth: Bitmap.Depth = .eight
    ) -> Image {
        Picture(width: width, height: height) { _, _ in color }
            .image(hasAlpha: color.w < 1, depth: depth)
    }

    private func render(
        _ layout: PhotoLayout, _ photos: [Image], frame: Image? = nil
    ) throws -> Picture {
        try Picture(ImageComposition(layout: layout, photos: photos, frame: frame).image)
    }

    private func slot(
        _ x: CGFloat, _ y: CGFloat, _ width: CGFloat, _ height: CGFloat, radius: CGFloat = 0,
        _ mode: ContentMode = .aspectFill
    ) -> PhotoLayout.Slot {
        .init(
            rect: CGRect(x: x, y: y, width: width, height: height), cornerRadius: radius,
            contentMode: mode)
    }

    @Test func theFourCutHasTwoByTwoPlacesAndAWideLowerEdge() {
        let layout = PhotoLayout.fourCut(size: CGSize(width: 300, height: 330))
        #expect(
            layout.slots.map(\.rect) == [
                CGRect(x: 20, y: 20, width: 120, height: 120),
                CGRect(x: 160, y: 20, width: 120, height: 120),
                CGRect(x: 20, y: 160, width: 120, height: 120),
                CGRect(x: 160, y: 160, width: 120, height: 120),
            ])
        #expect(layout.slots.allSatisfy { $0.cornerRadius == 10 && $0.contentMode == .aspectFill })
        #expect(layout.cornerRadius == 20)
        #expect(PhotoLayout.fourCutAspectRatio == 0.87)
    }

    @Test func photosLieInTheirPlacesOnTheFrame() throws {
        let layout = PhotoLayout.fourCut(
            size: CGSize(width: 60, height: 66), photoCornerRadius: 0, frameCornerRadius: 0)
        let colors = [red, green, blue, white]
        let picture = try render(
            layout, colors.map { solid($0, 30, 30) }, frame: solid([0.2, 0.4, 0.6, 1], 90, 99))
        let expected = Picture(width: 60, height: 66) { x, y in
            let column = (4..<28).contains(x) ? 0 : (32..<56).contains(x) ? 1 : nil
            let row = (4..<28).contains(y) ? 0 : (32..<56).contains(y) ? 1 : nil
            guard let column, let row else { return [0.2, 0.4, 0.6, 1] }
            return colors[row * 2 + column]
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func aspectFillCutsTheMiddleOut() throws {
        // Of the photo's height already, so nothing is resampled.
        let photo = Picture.noise(width: 30, height: 10, hasAlpha: false)
        let layout = PhotoLayout(
            size: CGSize(width: 14, height: 12), slots: [slot(2, 1, 10, 10)], background: .black)
        let picture = try render(layout, [photo.image(hasAlpha: false)])
        let expected = Picture(width: 14, height: 12) { x, y in
            (2..<12).contains(x) && (1..<11).contains(y) ? photo[x - 2 + 10, y - 1] : black
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func aspectFitShowsWhatIsBelow() throws {
        let photo = Picture.noise(width: 20, height: 10, hasAlpha: false)
        let layout = PhotoLayout(
            size: CGSize(width: 20, height: 20), slots: [slot(0, 0, 20, 20, .aspectFit)],
            background: .green)
        let picture = try render(layout, [photo.image(hasAlpha: false)])
        let expected = Picture(width: 20, height: 20) { x, y in
            (5..<15).contains(y) ? photo[x, y - 5] : green
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func noContentModeDistorts() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 10, height: 30), slots: [slot(0, 0, 10, 30, .none)],
            background: .black)
        let picture = try render(layout, [solid(red, 40, 10)])
        #expect(picture.difference(to: Picture(width: 10, height: 30) { _, _ in red }) < 1e-9)
    }

    @Test func roundedPhotosCoverTheAreaOfARoundedRectangle() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 50, height: 40), slots: [slot(5, 5, 40, 30, radius: 10)],
            background: .black)
        let picture = try render(layout, [solid(white, 40, 30)])
        let area = picture.pixels.reduce(0) { $0 + $1.x }
        let expected = 40.0 * 30 - (4 - .pi) * 10 * 10
        // Each of the pixels on the four arcs is rounded to a 255th.
        #expect(abs(area - expected) < 0.2)
        #expect(picture[5, 5] == black)
        #expect(picture[25, 5] == white)
        #expect(picture.pixels.allSatisfy { $0.w == 1 })
    }

    @Test func theCornersOfTheWholePictureAreTransparent() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 40, height: 30), slots: [], background: .blue, cornerRadius: 8)
        let image = ImageComposition(layout: layout, photos: []).image
        #expect(image.hasAlpha)
        let picture = try Picture(image)
        let area = picture.pixels.reduce(0) { $0 + $1.w }
        #expect(abs(area - (40 * 30 - (4 - .pi) * 64)) < 0.2)
        #expect(picture[0, 0].w == 0)
        #expect(picture[20, 15] == blue)
    }

    @Test func aFrameAboveIsSeenThrough() throws {
        let frame = Picture(width: 20, height: 20) { x, _ in
            x < 10 ? SIMD4(1, 0, 0, 51.0 / 255) : SIMD4(0, 0, 0, 0)
        }
        var layout = PhotoLayout(
            size: CGSize(width: 20, height: 20), slots: [slot(0, 0, 20, 20)], background: .black)
        layout.frameOrder = .abovePhotos
        let picture = try render(layout, [solid(green, 20, 20)], frame: frame.image())
        // A fifth of red over green.
        let expected = Picture(width: 20, height: 20) { x, _ in
            x < 10 ? SIMD4(0.2, 0.8, 0, 1) : green
        }
        #expect(picture.difference(to: expected) < 1 / 255.0)
    }

    @Test(arguments: PixelKind.all)
    func layersAreMixedLikePorterAndDuff(kind: PixelKind) throws {
        let photo = kind.noise(width: 12, height: 9)
        let layout = PhotoLayout(
            size: CGSize(width: 12, height: 9), slots: [slot(0, 0, 12, 9)],
            background: Color(red: 0.2, green: 0.4, blue: 0.8, alpha: 0.6))
        let picture = try render(layout, [kind.image(photo)])
        let expected = photo.map { above in
            let below = SIMD4(0.2, 0.4, 0.8, 0.6)
            let opacity = above.w + below.w * (1 - above.w)
            var mixed = (above * above.w + below * below.w * (1 - above.w)) / opacity
            mixed.w = opacity
            return mixed
        }
        #expect(picture.difference(to: expected) <= kind.step * 1.01)
    }

    @Test func aDeepPhotoMakesADeepPicture() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 8, height: 4), slots: [slot(0, 0, 4, 4), slot(4, 0, 4, 4)],
            background: .black)
        let deep = solid([0.123, 0.456, 0.789, 1], 4, 4, depth: .sixteen)
        let image = ImageComposition(layout: layout, photos: [deep, solid(white, 4, 4)]).image
        #expect(image.depth == .sixteen)
        let picture = try Picture(image)
        let expected = Picture(width: 8, height: 4) { x, _ in
            x < 4 ? SIMD4(0.123, 0.456, 0.789, 1) : white
        }
        #expect(picture.difference(to: expected) <= 1 / 65535.0)
    }

    @Test func theScaleMultipliesEveryLength() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 10, height: 10), scale: 3, slots: [slot(2, 2, 5, 5)],
            background: .black)
        let image = ImageComposition(layout: layout, photos: [solid(red)]).image
        #expect(image.scale == 3)
        #expect(image.size == CGSize(width: 10, height: 10))
        #expect(image.pixelSize == PixelSize(width: 30, height: 30))
        let picture = try Picture(image)
        let expected = Picture(width: 30, height: 30) { x, y in
            (6..<21).contains(x) && (6..<21).contains(y) ? red : black
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func slotsThatTouchLeaveNoGap() throws {
        let third: CGFloat = 10.0 / 3
        let layout = PhotoLayout(
            size: CGSize(width: 10, height: 4),
            slots: (0..<3).map { slot(CGFloat($0) * third, 0, third, 4) }, background: .black)
        let picture = try render(layout, [solid(red), solid(green), solid(blue)])
        #expect(!picture.pixels.contains(black))
    }

    @Test func whatLiesOutsideIsCutOff() throws {
        let photo = Picture.noise(width: 10, height: 10, hasAlpha: false)
        let layout = PhotoLayout(
            size: CGSize(width: 12, height: 12),
            slots: [
                slot(-4, -4, 10, 10), slot(20, 20, 5, 5), slot(.nan, 0, 5, 5), slot(3, 3, 0, 5),
            ], background: .black)
        let picture = try render(
            layout, [photo.image(hasAlpha: false), solid(red), solid(green), solid(blue)])
        let expected = Picture(width: 12, height: 12) { x, y in
            x < 6 && y < 6 ? photo[x + 4, y + 4] : black
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func laterPhotosLieOnEarlierOnesAndMissingOnesLeaveTheirPlaceEmpty() throws {
        let layout = PhotoLayout(
            size: CGSize(width: 9, height: 3),
            slots: [slot(0, 0, 5, 3), slot(3, 0, 3, 3), slot(6, 0, 3, 3)], background: .black)
        let picture = try render(layout, [solid(red), solid(green)])
        let expected = Picture(width: 9, height: 3) { x, _ in
            x < 3 ? red : x < 6 ? green : black
        }
        #expect(picture.difference(to: expected) < 1e-9)
    }

    @Test func filesAreDecodedForTheirPlaces() throws {
        let file = PNGFixture.data(.quadrants(width: 200, height: 200))
        let layout = PhotoLayout(
            size: CGSize(width: 40, height: 40), slots: [slot(10, 10, 20, 20)], background: .black)
        let photo = try #require(Image(data: file))
        let picture = try render(layout, [photo])
        #expect(!photo.isRendered)
        // Away from the edges between the quarters, where resampling mixes them.
        #expect(picture[12, 12] == red)
        #expect(picture[27, 12] == green)
        #expect(picture[12, 27] == blue)
        #expect(picture[27, 27] == white)
        #expect(picture[9, 20] == black)
    }

    @Test func aPictureOrASlotThatIsTooLargeFails() {
        let huge = PhotoLayout(size: CGSize(width: 1e6, height: 1e6), slots: [], cornerRadius: 3)
        let slot = slot(0, 0, 9e6, 9e6, radius: 3)
        let wide = PhotoLayout(size: CGSize(width: 4, height: 4), slots: [slot])
        for layout in [huge, wide] {
            #expect(throws: ImageCodingError.self) {
                _ = try ImageComposition(layout: layout, photos: [solid(red)]).image.bitmap()
            }
        }
    }

    @Test func nothingIsRenderedBeforeItIsNeeded() {
        let layout = PhotoLayout(size: CGSize(width: 9, height: 3), slots: [])
        #expect(!ImageComposition(layout: layout, photos: []).image.isRendered)
    }
}
