import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite(.timeLimit(.minutes(20))) struct ProgressiveViewTests {
    private let view = HeadlessImageView()
    private let asked = Recorder<PixelSize>()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Loads a file of which the gate holds the bytes behind `count` back; the first update is replaced by
    /// nothing.
    private func load(_ data: Data, holdingAfter count: Int, _ gate: Gate) {
        fixture.origin.route(
            "/photo.jpg",
            .ok(data, contentType: "image/jpeg").with(.hold(afterBytes: count, .gate(gate))))
        let progressive = ImageProgressive(isBlur: false, isFastestScan: false, scanInterval: 0)
        progressive.onImageUpdated.delegate(on: asked) { asked, image in
            asked.record(image.pixelSize)
            return asked.count == 1 ? ImageProgressive.UpdatingStrategy.replace(nil) : .default
        }
        view.kf.setImage(
            with: fixture.origin.url("/photo.jpg"),
            placeholder: PresentationFixture.image(width: 2),
            options: fixture.using([.progressiveJPEG(progressive)]),
            completionHandler: results.add())
    }

    @Test func aViewShowsTheScansAndThenTheImage() async throws {
        let jpeg = try ProgressiveFixture()
        let gate = Gate()
        load(jpeg.data, holdingAfter: jpeg.scanEnds[1], gate)
        #expect(view.image?.pixelSize.width == 2)
        await asked.waitFor(count: 2)
        // The update is shown in the same turn of the main queue in which it is decided on.
        #expect(try view.image?.bitmap().data == jpeg.picture(2).data)
        #expect(results.count == 0)
        gate.open()
        let result = try #require(await results.wait(for: 1).first?.value)
        #expect(view.image === result.image)
        #expect(try result.image.bitmap().data == decoded(jpeg.data).data)
    }

    @Test func aViewWithANewImageShowsNothingOfTheOldOne() async throws {
        let jpeg = try ProgressiveFixture()
        let gate = Gate()
        load(jpeg.data, holdingAfter: jpeg.scanEnds[1], gate)
        await asked.waitFor(count: 2)
        #expect(await fixture.show(fixture.url(width: 3), in: view).width == 3)
        gate.open()
        _ = await results.wait(for: 1)
        #expect(asked.count == 2 && view.image?.pixelSize.width == 3)
    }

    @Test func theBuilderSetsTheOption() {
        #expect(KF.url(nil).progressiveJPEG().options.progressiveJPEG?.isFastestScan == true)
        #expect(KF.url(nil).progressiveJPEG().progressiveJPEG(nil).options.progressiveJPEG == nil)
    }
}
