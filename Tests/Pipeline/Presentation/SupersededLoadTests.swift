import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Loads whose view was given another picture before they ended.
@MainActor @Suite struct SupersededLoadTests {
    /// A place that shows one picture after the other.
    @MainActor struct Place: CustomTestStringConvertible {
        nonisolated let testDescription: String
        /// Makes the place; the result gives it a picture to show.
        let make: @MainActor () -> (URL?, KingfisherOptionsInfo) -> Void

        nonisolated init(
            _ name: String, _ make: @escaping @MainActor () -> (URL?, KingfisherOptionsInfo) -> Void
        ) {
            testDescription = name
            self.make = make
        }
    }

    nonisolated static let places = [
        Place("image view") {
            let view = HeadlessImageView()
            return { view.kf.setImage(with: $0, options: $1) }
        },
        Place("image holder") {
            let holder = HeadlessImageHolder()
            return { holder.kf.setImage(with: $0, options: $1) }
        },
        Place("button") {
            let button = HeadlessButton()
            return { button.kf.setImage(with: $0, for: .selected, options: $1) }
        },
        Place("background of a button") {
            let button = HeadlessButton()
            return { button.kf.setBackgroundImage(with: $0, for: .normal, options: $1) }
        },
        Place("toggle button") {
            let button = HeadlessToggleButton()
            return { button.kf.setImage(with: $0, options: $1) }
        },
        Place("alternate image of a toggle button") {
            let button = HeadlessToggleButton()
            return { button.kf.setAlternateImage(with: $0, options: $1) }
        },
        Place("reusable binding") {
            let binding = ReusableImageBinding { _ in }
            return { binding.bind(to: $0, options: $1) }
        },
    ]

    @Test(arguments: places)
    func theLastPictureComesFirstAndTheOthersAreCachedBehindIt(place: Place) async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(widths: 2...30)
        fixture.downloader.maximumConnectionsPerHost = 1
        fixture.origin.route(
            "/1.png", .png(PresentationFixture.png(width: 1)).with(.wait(.gate(gate))))
        let show = place.make()
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
    func aViewMayCancelThem(place: Place) async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let show = place.make()
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
    func aDownloadThatSomebodyElseWaitsForGoesOn(place: Place) async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let show = place.make()
        let options = fixture.using([.cancelWhenSuperseded])
        let other = HeadlessImageView()
        let results = Results()
        show(fixture.url(width: 1), options)
        other.kf.setImage(
            with: fixture.url(width: 1), options: fixture.options, completionHandler: results.add())
        show(fixture.url(width: 2), options)
        await fixture.origin.waitForRequests(2)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 1)
        #expect(fixture.origin.abandonedRequestCount == 0)
        withExtendedLifetime(show) {}
    }

    @Test func theSamePictureAgainIsNotDownloadedTwice() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let view = HeadlessImageView()
        let results = Results()
        for number in 0..<3 {
            view.kf.setImage(
                with: fixture.url(width: 1), options: fixture.using([.cancelWhenSuperseded]),
                completionHandler: results.add(number))
        }
        gate.open()
        let all = await results.wait(for: 3)
        #expect(all.map(\.width) == [nil, nil, 1])
        #expect(fixture.origin.requestCount == 1)
        #expect(fixture.origin.abandonedRequestCount == 0)
    }

    @Test func aViewThatIsToShowNothingSupersedesItsLoad() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let view = HeadlessImageView()
        let results = Results()
        view.kf.setImage(
            with: fixture.url(width: 1), options: fixture.using([.cancelWhenSuperseded]),
            completionHandler: results.add())
        await fixture.origin.waitForRequests(1)
        view.kf.setImage(with: nil as URL?)
        #expect(await results.wait(for: 1)[0].error?.isNotCurrentTask == true)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    @Test func aPictureThatIsWantedAgainIsUrgentAgain() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(widths: 2...9)
        fixture.downloader.maximumConnectionsPerHost = 1
        fixture.origin.route(
            "/1.png", .png(PresentationFixture.png(width: 1)).with(.wait(.gate(gate))))
        let view = HeadlessImageView()
        for width in [1, 2, 3, 4, 5, 3] {
            view.kf.setImage(with: fixture.url(width: width), options: fixture.options)
        }
        await fixture.origin.waitForRequests(1)
        gate.open()
        await fixture.origin.waitForRequests(5)
        #expect(
            fixture.origin.requests.map(\.path) == [1, 3, 2, 4, 5].map { "/\($0).png" })
    }
}
