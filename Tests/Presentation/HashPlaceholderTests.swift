import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Placeholders made of hashes, in everything that shows images.
@MainActor @Suite struct HashPlaceholderTests {
    private let results = Results()
    private let blurHash = "LxH2cX2swxX8l}WDjte;gJfjfQfj"
    private let thumbHash = "2PoNNJpwd3d+eId3iIhzjwcHiA=="

    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// The sizes of what is seen by then.
    private func sizes(_ images: Image?...) -> [CGSize?] { images.map { $0?.size } }

    private let high = CGSize(width: 32, height: 24)
    private let wide = CGSize(width: 32, height: 18)
    private let large = CGSize(width: 64, height: 32)

    @Test func anImageViewTakesThem() async throws {
        let gate = fixture.hold()
        let (first, second) = (HeadlessImageView(), HeadlessImageView())
        let size = CGSize(width: 64, height: 36)
        first.kf.setImage(
            with: fixture.url(width: 1), placeholder: .blurHash(blurHash), options: fixture.options,
            completionHandler: results.add())
        second.kf.setImage(
            with: fixture.url(width: 2), placeholder: .thumbHash(thumbHash, size: size),
            options: fixture.options, completionHandler: results.add(1))
        #expect(sizes(first.image, second.image) == [high, size])
        gate.open()
        #expect(await results.wait(for: 2).map(\.width) == [1, 2])
        #expect(first.image?.pixelSize.width == 1 && second.image?.pixelSize.width == 2)
    }

    @Test func theBuilderTakesThem() async throws {
        let gate = fixture.hold()
        let views = (0..<3).map { _ in HeadlessImageView() }
        let done = Recorder<Int>()
        func builder(_ width: Int) -> KF.Builder {
            fixture.builder(fixture.url(width: width))
                .onSuccess { done.record($0.image.pixelSize.width) }
        }
        builder(1).placeholder(blurHash: blurHash, size: large).set(to: views[0])
        builder(2).placeholder(thumbHash: thumbHash).set(to: views[1])
        builder(3).placeholder(blurHash: "no hash").set(to: views[2])
        #expect(sizes(views[0].image, views[1].image, views[2].image) == [large, wide, nil])
        #expect(views[0].image?.pixelSize == PixelSize(width: 32, height: 16))
        gate.open()
        #expect(await done.waitFor(count: 3).sorted() == [1, 2, 3])
    }

    @Test func buttonsTakeThem() async throws {
        let gate = fixture.hold()
        let (button, toggle) = (HeadlessButton(), HeadlessToggleButton())
        button.kf.setImage(
            with: fixture.url(width: 1), for: .normal, placeholder: .blurHash(blurHash),
            options: fixture.options, completionHandler: results.add(0))
        button.kf.setBackgroundImage(
            with: fixture.url(width: 2), for: .selected, placeholder: .thumbHash(thumbHash),
            options: fixture.options, completionHandler: results.add(1))
        toggle.kf.setImage(
            with: fixture.url(width: 3), placeholder: .thumbHash(thumbHash),
            options: fixture.options, completionHandler: results.add(2))
        toggle.kf.setAlternateImage(
            with: fixture.url(width: 4), placeholder: .blurHash(blurHash),
            options: fixture.options, completionHandler: results.add(3))
        #expect(
            sizes(
                button.image(for: .normal), button.backgroundImage(for: .selected), toggle.image,
                toggle.alternateImage) == [high, wide, wide, high])
        gate.open()
        #expect(await results.wait(for: 4).map(\.width) == [1, 2, 3, 4])
        #expect(button.image(for: .normal)?.pixelSize.width == 1)
        #expect(toggle.alternateImage?.pixelSize.width == 4)
    }
}
