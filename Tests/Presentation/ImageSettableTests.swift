import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageSettableTests {
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    @Test func aHolderShowsThePlaceholderThenTheImage() async throws {
        let holder = HeadlessImageHolder()
        let placeholder = PresentationFixture.image(width: 20)
        holder.kf.setImage(
            with: fixture.url(width: 3), placeholder: placeholder,
            options: fixture.using([.transition(.fade(9))]), completionHandler: results.add())
        #expect(await results.wait(for: 1)[0].width == 3)
        #expect(holder.history.map { $0?.pixelSize.width } == [20, 3])
    }

    @Test func aHolderNeedsTheTwoRequirementsOnly() async throws {
        let holder = Plain()
        let source = Source.network(fixture.url(width: 2))
        holder.kf.setImage(with: source, options: fixture.options, completionHandler: results.add())
        #expect(await results.wait(for: 1)[0].width == 2)
        #expect(holder.getImage()?.pixelSize.width == 2)
    }

    @Test func aToggleButtonTakesTheImageOfADataProvider() async throws {
        let button = HeadlessToggleButton()
        let provider = RawImageDataProvider(
            data: PNGFixture.solid(Pixel(0, 0, 0), width: 4, height: 1), cacheKey: "toggle button")
        button.kf.setImage(
            with: provider, options: fixture.options, completionHandler: results.add())
        #expect(await results.wait(for: 1)[0].width == 4)
        #expect(button.image?.pixelSize.width == 4)
    }

    @Test func nothingIsRememberedOfAHolderThatIsGone() async throws {
        let gate = fixture.hold()
        let loader: ImageSlotLoader?
        weak var remembered: HeadlessImageHolder?
        do {
            let holder = HeadlessImageHolder()
            remembered = holder
            for width in [1, 2] {
                holder.kf.setImage(
                    with: fixture.url(width: width), options: fixture.options,
                    completionHandler: results.add(width))
            }
            loader = SlotTable.shared.runningLoader(of: holder, .image)
        }
        let running = try #require(loader)
        #expect(remembered == nil && SlotTable.shared.contains(running))
        gate.open()
        #expect(await results.wait(for: 2)[1].width == 2)
        #expect(!SlotTable.shared.contains(running))
    }
}

/// A class that is not bound to the main actor.
private final class Plain: KingfisherImageSettable {
    @MainActor private var held: KFCrossPlatformImage?

    func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        held = image
    }

    func getImage() -> KFCrossPlatformImage? { held }
}
