import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageViewLoadingTests {
    @Test func aLabelIsSeenOnTheViewUntilTheImageComes() async throws {
        let gate = Gate()
        let fixture = try await LoadFixture()
        let url = fixture.route("/a.png", .blue, gate: gate)
        let view = stretched()
        let window = await TestWindow(view, width: 100, height: 40)
        let label = Label("\u{2588}\u{2588}\u{2588}\u{2588}")
        let results = Results()
        view.kf.setImage(
            with: url, placeholder: label, options: fixture.using(),
            completionHandler: results.add())
        await fixture.origin.waitForRequests(1)
        let shot = await window.screenshot()
        #expect(label.size == CGSize(width: 100, height: 40))
        // The text is in the middle and there is nothing at the edge.
        #expect(shot.pixel(50, 20).alpha > 0 && shot.pixel(1, 1).alpha == 0)
        gate.open()
        _ = await results.wait(for: 1)
        #expect(!label.isMapped)
        #expect(await window.screenshot().pixel(1, 1) == .blue)
    }

    @Test func aThousandRebindsNeverShowAWrongImage() async throws {
        let fixture = try await LoadFixture()
        let colors: [Pixel] = [
            .red, .green, .blue, .white, Pixel(255, 255, 0), Pixel(0, 255, 255),
            Pixel(255, 0, 255), Pixel(128, 128, 128),
        ]
        for (number, color) in colors.enumerated() {
            fixture.origin.route(
                "/\(number).png",
                .png(PNGFixture.solid(color, width: 8, height: 8))
                    .with(.wait(.duration(.milliseconds(3)))))
        }
        let options: KingfisherOptionsInfo = [
            .targetCache(fixture.cache), .downloader(fixture.downloader),
        ]
        let view = stretched()
        let window = await TestWindow(view, width: 20, height: 20)
        let results = Results()
        var random = SystemRandomNumberGenerator()
        for round in 1...1000 {
            let number = Int.random(in: 0..<colors.count, using: &random)
            // Every other load finds nothing in memory, so that late ones arrive in any order.
            if round.isMultiple(of: 2) { fixture.cache.clearMemoryCache() }
            view.kf.setImage(
                with: fixture.origin.url("/\(number).png"), options: options,
                completionHandler: results.add())
            guard round.isMultiple(of: 10) || round == 1000 else { continue }
            let seen = await window.screenshot().pixel(10, 10)
            #expect(seen.alpha == 0 || seen == colors[number], "round \(round)")
            if round == 1000 {
                _ = await results.wait(for: 1000)
                #expect(await window.screenshot().pixel(10, 10) == colors[number])
            }
        }
        let shown = await results.wait(for: 1000).count { $0.1.value != nil }
        #expect(shown >= 1 && results.count == 1000)
    }
}
