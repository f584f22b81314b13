import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewPlaceholderTests {
    private let view = HeadlessImageView()
    private let placeholder = PresentationFixture.image(width: 20)
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Upstream: testImageSettingWithPlaceholder
    @Test func aPlaceholderImageIsShownUntilTheImageComes() async throws {
        let gate = fixture.hold()
        async let result = fixture.show(fixture.url(width: 1), in: view, placeholder: placeholder)
        await fixture.origin.waitForRequests(1)
        #expect(view.image === placeholder && view.kf.placeholder as? Image === placeholder)
        gate.open()
        #expect(await result.width == 1)
        #expect(view.kf.placeholder == nil && view.image?.pixelSize.width == 1)
    }

    /// Upstream: testImageSettingWithCustomizePlaceholder
    @Test func aPlaceholderViewLiesOnTheImageViewUntilTheImageComes() async throws {
        let gate = fixture.hold()
        let label = HeadlessLabel("loading")
        async let result = fixture.show(fixture.url(width: 1), in: view, placeholder: label)
        await fixture.origin.waitForRequests(1)
        #expect(view.overlays.map { $0.placement } == [OverlayPlacement(size: .full)])
        #expect(view.overlays.first?.view === label && view.image == nil)
        gate.open()
        #expect(await result.width == 1)
        #expect(view.overlays.isEmpty)
    }

    /// Upstream: testSettingImageWhileKeepingCurrentOne
    @Test func theOldImageGoesAtOnceUnlessItIsToBeKept() async throws {
        let gate = fixture.hold()
        let old = PresentationFixture.image(width: 30)
        let keeping = HeadlessImageView()
        view.image = old
        keeping.image = old
        async let first = fixture.show(fixture.url(width: 1), in: view)
        async let second = fixture.show(
            fixture.url(width: 2), in: keeping, [.keepCurrentImageWhileLoading])
        await fixture.origin.waitForRequests(2)
        #expect(view.image == nil && keeping.image === old)
        gate.open()
        #expect(await [first.width, second.width] == [1, 2])
        #expect(keeping.image?.pixelSize.width == 2)
    }

    /// Upstream: testSettingImageKeepingRespectingPlaceholder
    @Test func anEmptyViewShowsThePlaceholderThoughItKeepsImages() async throws {
        let gate = fixture.hold()
        async let result = fixture.show(
            fixture.url(width: 1), in: view, placeholder: placeholder,
            [.keepCurrentImageWhileLoading])
        await fixture.origin.waitForRequests(1)
        #expect(view.image === placeholder)
        gate.open()
        _ = await result
        #expect(view.image?.pixelSize.width == 1)
        // It shows an image now, which is kept.
        let held = Gate()
        fixture.hold(width: 6, held)
        async let next = fixture.show(
            fixture.url(width: 6), in: view, placeholder: placeholder,
            [.keepCurrentImageWhileLoading])
        await fixture.origin.waitForRequests(1, path: "/6.png")
        #expect(view.image?.pixelSize.width == 1)
        held.open()
        #expect(await next.width == 6)
    }

    /// Upstream: testMe
    @Test func aKeptPlaceholderViewCountsAsShown() async throws {
        fixture.hold()
        let (first, second) = (HeadlessLabel("first"), HeadlessLabel("second"))
        view.kf.setImage(with: fixture.url(width: 1), placeholder: first, options: fixture.options)
        view.kf.setImage(
            with: fixture.url(width: 2), placeholder: second,
            options: fixture.using([.keepCurrentImageWhileLoading]))
        #expect(view.overlays.map { ObjectIdentifier($0.view) } == [ObjectIdentifier(first)])
        view.kf.cancelDownloadTask()
    }

    /// Upstream: testSettingNonWorkingImageWithCustomizePlaceholderAndFailureImage,
    /// testSettingNonWorkingImageWithFailureImage (ImageViewExtensionTests)
    @Test func theFailureImageTakesThePlaceOfAPlaceholderAndTheErrorIsTold() async throws {
        fixture.origin.route("/broken.png", .abort())
        let failed = PresentationFixture.image(width: 40)
        let placeholders: [any Placeholder] = [HeadlessLabel(), placeholder]
        for placeholder in placeholders {
            let result = await fixture.show(
                fixture.origin.url("/broken.png"), in: view, placeholder: placeholder,
                [.onFailureImage(failed)])
            #expect(result.error?.errorCode == 2003)
            #expect(view.overlays.isEmpty && view.kf.placeholder == nil && view.image === failed)
        }
    }

    /// Upstream: testSettingNonWorkingImageWithEmptyFailureImage
    @Test func noFailureImageAskedForEmptiesTheView() async throws {
        _ = await fixture.show(
            fixture.missing, in: view, placeholder: placeholder, [.onFailureImage(nil)])
        #expect(view.image == nil && view.kf.placeholder == nil)
    }

    /// Upstream: testSettingNonWorkingImageWithoutFailureImage
    @Test func withoutAFailureImageThePlaceholderStays() async throws {
        _ = await fixture.show(fixture.missing, in: view, placeholder: placeholder)
        #expect(view.image === placeholder && view.kf.placeholder as? Image === placeholder)
    }
}
