import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite(.timeLimit(.minutes(20))) struct ProgressiveViewTests {
    /// Waits until two updates have been decided on; the first one is replaced by nothing.
    private func progressive(_ asked: Recorder<PixelSize>) -> ImageProgressive {
        let progressive = ImageProgressive(isBlur: false, isFastestScan: false, scanInterval: 0)
        progressive.onImageUpdated.delegate(on: asked) { asked, image in
            asked.record(image.pixelSize)
            return asked.count == 1 ? ImageProgressive.UpdatingStrategy.replace(nil) : .default
        }
        return progressive
    }

    @Test func aViewShowsTheScansAndThenTheImage() async throws {
        let jpeg = try ProgressiveFixture()
        let gate = Gate()
        let fixture = try await PresentationFixture()
        fixture.origin.route(
            "/photo.jpg",
            .ok(jpeg.data, contentType: "image/jpeg")
                .with(.hold(afterBytes: jpeg.scanEnds[1], .gate(gate))))
        let view = HeadlessImageView()
        let asked = Recorder<PixelSize>()
        let results = Results()
        view.kf.setImage(
            with: fixture.origin.url("/photo.jpg"),
            placeholder: PresentationFixture.image(width: 2),
            options: fixture.using([.progressiveJPEG(progressive(asked))]),
            completionHandler: results.add())
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
        let fixture = try await PresentationFixture()
        fixture.origin.route(
            "/photo.jpg",
            .ok(jpeg.data, contentType: "image/jpeg")
                .with(.hold(afterBytes: jpeg.scanEnds[1], .gate(gate))))
        let view = HeadlessImageView()
        let asked = Recorder<PixelSize>()
        let results = Results()
        view.kf.setImage(
            with: fixture.origin.url("/photo.jpg"),
            options: fixture.using([.progressiveJPEG(progressive(asked))]),
            completionHandler: results.add())
        await asked.waitFor(count: 2)
        let other = await fixture.show(fixture.url(width: 3), in: view)
        gate.open()
        _ = await results.wait(for: 1)
        #expect(asked.count == 2)
        #expect(other.width == 3)
        #expect(view.image?.pixelSize.width == 3)
    }

    @Test(arguments: [0, 1, 0xFFFF] as [UInt16])
    func aViewShowsNothingOfAFileThatHidesASecondFrame(_ height: UInt16) async throws {
        let hostile = try ProgressiveFixture().hidingASecondFrame(height: height)
        let pieces = hostile.count / 64 * 64
        let gate = Gate()
        let fixture = try await PresentationFixture()
        fixture.origin.route(
            "/photo.jpg",
            .ok(hostile, contentType: "image/jpeg")
                .with(.slices(bytes: 64), .hold(afterBytes: pieces, .gate(gate))))
        let view = HeadlessImageView()
        let asked = Recorder<PixelSize>()
        let arrived = Recorder<Int64>()
        let results = Results()
        view.kf.setImage(
            with: fixture.origin.url("/photo.jpg"),
            options: fixture.using([.progressiveJPEG(progressive(asked))]),
            progressBlock: { received, _ in arrived.record(received) },
            completionHandler: results.add())
        await arrived.wait { $0.contains { $0 >= Int64(pieces) } }
        // Another file is loaded and shown meanwhile.
        let other = HeadlessImageView()
        _ = await fixture.show(fixture.url(width: 3), in: other)
        gate.open()
        let result = try #require(await results.wait(for: 1).first)
        #expect(throws: KingfisherError.self) { try result.get() }
        #expect(asked.count == 0)
    }

    @Test func theBuilderSetsTheOption() {
        #expect(KF.url(nil).progressiveJPEG().options.progressiveJPEG?.isFastestScan == true)
        #expect(KF.url(nil).progressiveJPEG().progressiveJPEG(nil).options.progressiveJPEG == nil)
    }
}
