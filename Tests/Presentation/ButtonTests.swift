import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ButtonTests {
    private let button = HeadlessButton()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Defect: D-8
    @Test func loadsForDifferentStatesKnowNothingOfEachOther() async throws {
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let states: [ControlState] = [.normal, .disabled]
        for (state, width) in zip(states, [1, 2]) {
            button.kf.setImage(
                with: fixture.url(width: width), for: state, options: fixture.options,
                completionHandler: results.add(width))
        }
        #expect(await results.wait(for: 2).map(\.width) == [1, 2])
        #expect(states.map { button.image(for: $0)?.pixelSize.width } == [1, 2])
    }

    @Test func parsedOptionsAreAllOptionsOfALoad() async throws {
        try await fixture.cacheOnDisk(width: 2)
        let placeholder = PresentationFixture.image(width: 1)
        let options = KingfisherParsedOptionsInfo(fixture.options)
        button.kf.setImage(
            with: .network(fixture.url(width: 2)), for: .normal, placeholder: placeholder,
            parsedOptions: options, completionHandler: results.add())
        #expect(button.image(for: .normal) === placeholder)
        #expect(await results.wait(for: 1).map(\.width) == [2])
        #expect(button.image(for: .normal)?.pixelSize.width == 2)
        button.kf.setImage(with: nil, for: .normal, parsedOptions: options)
        #expect(button.image(for: .normal) == nil)
    }

    @Test func oneStateCanBeCancelledAlone() async throws {
        let gate = fixture.hold()
        for (number, state) in [ControlState.normal, .focused].enumerated() {
            button.kf.setImage(
                with: fixture.url(width: 1), for: state, options: fixture.options,
                completionHandler: results.add(number))
        }
        button.kf.cancelImageDownloadTask(for: .normal)
        gate.open()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isTaskCancelled == true && all[1].width == 1)
    }
}
