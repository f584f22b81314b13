import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Loads whose view was given another picture before they ended.
@MainActor @Suite struct SupersededLoadTests {
    private let view = HeadlessImageView()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    nonisolated static let places =
        ImagePlace.all + [
            ImagePlace("reusable binding") {
                let binding = ReusableImageBinding { _ in }
                return ImagePlace.Made(
                    set: { url, options, _, _ in
                        binding.bind(to: url, options: options)
                        return nil
                    }, shown: { nil }, cancel: { binding.unbind() }, identifier: { nil })
            }
        ]

    /// Makes the place; the result gives it a picture to show.
    private func showing(_ place: ImagePlace) -> @MainActor (URL, KingfisherOptionsInfo) -> Void {
        let made = place.make()
        return { _ = made.set($0, $1, nil, nil) }
    }

    @Test(arguments: places)
    func theLastPictureComesFirstAndTheOthersAreCachedBehindIt(place: ImagePlace) async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(widths: 1...30)
        fixture.downloader.maximumConnectionsPerHost = 1
        fixture.hold(width: 1, gate)
        let show = showing(place)
        for width in 1...30 { show(fixture.url(width: width), fixture.options) }
        await fixture.origin.waitForRequests(1)
        gate.open()
        await fixture.origin.waitForRequests(30)
        #expect(
            fixture.origin.requests.map(\.path)
                == ([1, 30] + Array(2...29)).map { "/\($0).png" })
        withExtendedLifetime(show) {}
    }

    @Test(arguments: places)
    func aViewMayCancelThem(place: ImagePlace) async throws {
        let gate = fixture.hold()
        let show = showing(place)
        let options = fixture.using([.cancelWhenSuperseded])
        show(fixture.url(width: 1), options)
        await fixture.origin.waitForRequests(1)
        show(fixture.url(width: 2), options)
        await fixture.origin.waitForAbandonedRequests(1)
        gate.open()
        await fixture.origin.waitForRequests(2)
        #expect(fixture.cachedType(width: 1) == .none)
        withExtendedLifetime(show) {}
    }

    @Test(arguments: places)
    func aDownloadThatSomebodyElseWaitsForGoesOn(place: ImagePlace) async throws {
        let gate = fixture.hold()
        let show = showing(place)
        let options = fixture.using([.cancelWhenSuperseded])
        let other = HeadlessImageView()
        show(fixture.url(width: 1), options)
        fixture.set(1, in: other, then: results.add())
        show(fixture.url(width: 2), options)
        await fixture.origin.waitForRequests(2)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 1)
        #expect(fixture.origin.abandonedRequestCount == 0)
        withExtendedLifetime(show) {}
    }

    @Test func theSamePictureAgainIsNotDownloadedTwice() async throws {
        let gate = fixture.hold()
        for number in 0..<3 {
            fixture.set(1, in: view, [.cancelWhenSuperseded], then: results.add(number))
        }
        gate.open()
        #expect(await results.wait(for: 3).map(\.width) == [nil, nil, 1])
        #expect(fixture.origin.requestCount == 1 && fixture.origin.abandonedRequestCount == 0)
    }

    @Test func aViewThatIsToShowNothingSupersedesItsLoad() async throws {
        fixture.hold()
        fixture.set(1, in: view, [.cancelWhenSuperseded], then: results.add())
        await fixture.origin.waitForRequests(1)
        view.kf.setImage(with: nil as URL?)
        #expect(await results.wait(for: 1)[0].error?.isNotCurrentTask == true)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    @Test func aPictureThatIsWantedAgainIsUrgentAgain() async throws {
        let gate = Gate()
        fixture.downloader.maximumConnectionsPerHost = 1
        fixture.hold(width: 1, gate)
        for width in [1, 2, 3, 4, 5, 3] { fixture.set(width, in: view) }
        await fixture.origin.waitForRequests(1)
        gate.open()
        await fixture.origin.waitForRequests(5)
        #expect(fixture.origin.requests.map(\.path) == [1, 3, 2, 4, 5].map { "/\($0).png" })
    }
}
