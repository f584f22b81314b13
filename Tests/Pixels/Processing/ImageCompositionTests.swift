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

    /// A layout on black.
    private func layout(
        _ width: CGFloat, _ height: CGFloat, _ slots: PhotoLayout.Slot..., scale: CGFloat = 1
    ) -> PhotoLayout {
        PhotoLayout(
            size: CGSize(width: width, height: height), scale: scale, slots: slots,
            background: .black)
    }

    /// Expects the picture of a layout to be the one whose pixels are told.
    private func expect(
        _ layout: PhotoLayout, _ photos: [Image], frame: Image? = nil,
        within tolerance: Double = 1e-9, sourceLocation: SourceLocation = #_sourceLocation,
        _ pixel: (_ x: Int, _ y: Int) -> SIMD4<Double>
    ) throws {
        let picture = try render(layout, photos, frame: frame)
        let expected = Picture(width: picture.width, height: picture.height, pixel)
        let size = PixelSize(points: layout.size, scale: layout.scale)
        #expect(
            size == PixelSize(width: picture.width, height: picture.height),
            sourceLocation: sourceLocation)
        #expect(picture.difference(to: expected) <= tolerance, sourceLocation: sourceLocation)
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
        try expect(
            layout, colors.map { solid($0, 30, 30) }, frame: solid([0.2, 0.4, 0.6, 1], 90, 99)
        ) { x, y in
            let column = (4..<28).contains(x) ? 0 : (32..<56).contains(x) ? 1 : nil
            let row = (4..<28).contains(y) ? 0 : (32..<56).contains(y) ? 1 : nil
            guard let column, let row else { return [0.2, 0.4, 0.6, 1] }
            return colors[row * 2 + column]
        }
    }

    @Test func aspectFillCutsTheMiddleOut() throws {
        // Of the photo's height already, so nothing is resampled.
        let photo = Picture.noise(width: 30, height: 10, hasAlpha: false)
        let layout = layout(14, 12, slot(2, 1, 10, 10))
        try expect(layout, [photo.image(hasAlpha: false)]) { x, y in
            (2..<12).contains(x) && (1..<11).contains(y) ? photo[x - 2 + 10, y - 1] : black
        }
    }

    @Test func aspectFitShowsWhatIsBelow() throws {
        let photo = Picture.noise(width: 20, height: 10, hasAlpha: false)
        let layout = PhotoLayout(
            size: CGSize(width: 20, height: 20), slots: [slot(0, 0, 20, 20, .aspectFit)],
            background: .green)
        try expect(layout, [photo.image(hasAlpha: false)]) { x, y in
            (5..<15).contains(y) ? photo[x, y - 5] : green
        }
    }

    @Test func noContentModeDistorts() throws {
        let layout = layout(10, 30, slot(0, 0, 10, 30, .none))
        try expect(layout, [solid(red, 40, 10)]) { _, _ in red }
    }

    @Test func roundedPhotosCoverTheAreaOfARoundedRectangle() throws {
        let layout = layout(50, 40, slot(5, 5, 40, 30, radius: 10))
        let picture = try render(layout, [solid(white, 40, 30)])
        let area = picture.pixels.reduce(0) { $0 + $1.x }
        let expected = 40.0 * 30 - (4 - .pi) * 10 * 10
        // Each of the pixels on the four arcs is rounded to a 255th.
        #expect(abs(area - expected) < 0.2)
        #expect(picture[5, 5] == black && picture[25, 5] == white)
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
        #expect(picture[0, 0].w == 0 && picture[20, 15] == blue)
    }

    @Test func aFrameAboveIsSeenThrough() throws {
        let frame = Picture(width: 20, height: 20) { x, _ in
            x < 10 ? SIMD4(1, 0, 0, 51.0 / 255) : SIMD4(0, 0, 0, 0)
        }
        var layout = layout(20, 20, slot(0, 0, 20, 20))
        layout.frameOrder = .abovePhotos
        // A fifth of red over green.
        try expect(layout, [solid(green, 20, 20)], frame: frame.image(), within: 0.99 / 255) {
            x, _ in x < 10 ? SIMD4(0.2, 0.8, 0, 1) : green
        }
    }

    @Test(arguments: PixelKind.all)
    func layersAreMixedLikePorterAndDuff(kind: PixelKind) throws {
        let photo = kind.noise(width: 12, height: 9)
        let layout = PhotoLayout(
            size: CGSize(width: 12, height: 9), slots: [slot(0, 0, 12, 9)],
            background: Color(red: 0.2, green: 0.4, blue: 0.8, alpha: 0.6))
        let picture = try render(layout, [kind.image(photo)])
        let expected = photo.map { ColorEffectTests.over($0, SIMD4(0.2, 0.4, 0.8, 0.6)) }
        #expect(picture.difference(to: expected) <= kind.step * 1.01)
    }

    @Test func aDeepPhotoMakesADeepPicture() throws {
        let layout = layout(8, 4, slot(0, 0, 4, 4), slot(4, 0, 4, 4))
        let deep = solid([0.123, 0.456, 0.789, 1], 4, 4, depth: .sixteen)
        let image = ImageComposition(layout: layout, photos: [deep, solid(white, 4, 4)]).image
        #expect(image.depth == .sixteen)
        try expect(layout, [deep, solid(white, 4, 4)], within: 1 / 65535.0) { x, _ in
            x < 4 ? SIMD4(0.123, 0.456, 0.789, 1) : white
        }
    }

    @Test func theScaleMultipliesEveryLength() throws {
        let layout = layout(10, 10, slot(2, 2, 5, 5), scale: 3)
        let image = ImageComposition(layout: layout, photos: [solid(red)]).image
        #expect(image.scale == 3 && image.size == CGSize(width: 10, height: 10))
        #expect(image.pixelSize == PixelSize(width: 30, height: 30))
        try expect(layout, [solid(red)]) { x, y in
            (6..<21).contains(x) && (6..<21).contains(y) ? red : black
        }
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
        let layout = layout(
            12, 12, slot(-4, -4, 10, 10), slot(20, 20, 5, 5), slot(.nan, 0, 5, 5), slot(3, 3, 0, 5))
        try expect(layout, [photo.image(hasAlpha: false), solid(red), solid(green), solid(blue)]) {
            x, y in
            x < 6 && y < 6 ? photo[x + 4, y + 4] : black
        }
    }

    @Test func laterPhotosLieOnEarlierOnesAndMissingOnesLeaveTheirPlaceEmpty() throws {
        let layout = layout(9, 3, slot(0, 0, 5, 3), slot(3, 0, 3, 3), slot(6, 0, 3, 3))
        try expect(layout, [solid(red), solid(green)]) { x, _ in
            x < 3 ? red : x < 6 ? green : black
        }
    }

    @Test func filesAreDecodedForTheirPlaces() throws {
        let file = PNGFixture.data(.quadrants(width: 200, height: 200))
        let layout = layout(40, 40, slot(10, 10, 20, 20))
        let photo = try #require(Image(data: file))
        let picture = try render(layout, [photo])
        #expect(!photo.isRendered)
        // Away from the edges between the quarters, where resampling mixes them.
        #expect(picture[12, 12] == red && picture[27, 12] == green && picture[12, 27] == blue)
        #expect(picture[27, 27] == white && picture[9, 20] == black)
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
