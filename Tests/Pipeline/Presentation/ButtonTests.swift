import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ButtonTests {
    private let image = ButtonSlotKind<HeadlessButton>(
        set: {
            $0.kf.setImage(
                with: $1, for: .highlighted, options: $2, progressBlock: $3, completionHandler: $4)
        },
        shown: { $0.image(for: .highlighted) }, cancel: { $0.kf.cancelImageDownloadTask() },
        identifier: { $0.kf.taskIdentifier(for: .highlighted) })
    private let background = ButtonSlotKind<HeadlessButton>(
        set: {
            $0.kf.setBackgroundImage(
                with: $1, for: .selected, options: $2, progressBlock: $3, completionHandler: $4)
        },
        shown: { $0.backgroundImage(for: .selected) },
        cancel: { $0.kf.cancelBackgroundImageDownloadTask() },
        identifier: { $0.kf.backgroundTaskIdentifier(for: .selected) })

    /// Upstream: testDownloadAndSetImage (UIButtonExtensionTests)
    @Test func anImageIsDownloadedForItsState() async throws {
        let button = HeadlessButton()
        try await image.checkDownload(into: button)
        #expect(Array(button.images.keys) == [.highlighted] && button.backgrounds.isEmpty)
    }

    /// Upstream: testDownloadAndSetBackgroundImage
    @Test func aBackgroundIsDownloadedForItsState() async throws {
        let button = HeadlessButton()
        try await background.checkDownload(into: button)
        #expect(Array(button.backgrounds.keys) == [.selected] && button.images.isEmpty)
    }

    /// Upstream: testCancelImageTask (UIButtonExtensionTests)
    @Test func theImagesLoadIsCancelled() async throws {
        try await image.checkCancelling(HeadlessButton())
    }

    /// Upstream: testCancelBackgroundImageTask
    @Test func theBackgroundsLoadIsCancelled() async throws {
        try await background.checkCancelling(HeadlessButton())
    }

    /// Upstream: testSettingNilURL (UIButtonExtensionTests)
    @Test func noSourceFailsAtOnce() async throws {
        await image.checkNoSource(HeadlessButton())
        await background.checkNoSource(HeadlessButton())
    }

    /// Upstream: testSettingNonWorkingImageWithFailureImage (UIButtonExtensionTests)
    @Test func theFailureImageIsSetForTheState() async throws {
        try await image.checkFailureImage(HeadlessButton())
    }

    /// Upstream: testSettingNonWorkingBackgroundImageWithFailureImage
    @Test func theFailureImageIsSetAsBackground() async throws {
        try await background.checkFailureImage(HeadlessButton())
    }

    /// Upstream: testSupersededDiskCachedImageDoesNotPromoteToMemory
    @Test(.holdingThreads) func aSupersededDiskImageIsNotPutIntoMemory() async throws {
        try await image.checkSuperseding(HeadlessButton())
    }

    /// Upstream: testCancelBackgroundImageTaskCancelsDiskCacheRetrieval
    @Test(.holdingThreads) func cancellingDuringADiskReadKeepsTheBackgroundOutOfMemory()
        async throws
    {
        try await background.checkCancellingDiskRead(HeadlessButton())
    }

    /// Defect: D-8
    @Test func loadsForDifferentStatesKnowNothingOfEachOther() async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let button = HeadlessButton()
        let results = Results()
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
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 2)
        let button = HeadlessButton()
        let placeholder = PresentationFixture.image(width: 1)
        let results = Results()
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
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let button = HeadlessButton()
        let results = Results()
        for (number, state) in [ControlState.normal, .focused].enumerated() {
            button.kf.setImage(
                with: fixture.url(width: 1), for: state, options: fixture.options,
                completionHandler: results.add(number))
        }
        button.kf.cancelImageDownloadTask(for: .normal)
        gate.open()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isTaskCancelled == true)
        #expect(all[1].width == 1)
    }
}

@MainActor @Suite struct ToggleButtonTests {
    private let image = ButtonSlotKind<HeadlessToggleButton>(
        set: { $0.kf.setImage(with: $1, options: $2, progressBlock: $3, completionHandler: $4) },
        shown: { $0.image }, cancel: { $0.kf.cancelImageDownloadTask() },
        identifier: { $0.kf.taskIdentifier })
    private let alternate = ButtonSlotKind<HeadlessToggleButton>(
        set: {
            $0.kf.setAlternateImage(with: $1, options: $2, progressBlock: $3, completionHandler: $4)
        },
        shown: { $0.alternateImage }, cancel: { $0.kf.cancelAlternateImageDownloadTask() },
        identifier: { $0.kf.alternateTaskIdentifier })

    /// Upstream: testDownloadAndSetImage (NSButtonExtensionTests)
    @Test func theImageIsDownloaded() async throws {
        let button = HeadlessToggleButton()
        try await image.checkDownload(into: button)
        #expect(button.alternateImage == nil)
    }

    /// Upstream: testDownloadAndSetAlternateImage
    @Test func theAlternateImageIsDownloaded() async throws {
        let button = HeadlessToggleButton()
        try await alternate.checkDownload(into: button)
        #expect(button.image == nil)
    }

    /// Upstream: testCancelImageTask (NSButtonExtensionTests)
    @Test func theImagesLoadIsCancelled() async throws {
        try await image.checkCancelling(HeadlessToggleButton())
    }

    /// Upstream: testCancelAlternateImageTask
    @Test func theAlternateImagesLoadIsCancelled() async throws {
        try await alternate.checkCancelling(HeadlessToggleButton())
    }

    /// Upstream: testSettingNilURL (NSButtonExtensionTests)
    @Test func noSourceFailsAtOnce() async throws {
        await image.checkNoSource(HeadlessToggleButton())
        await alternate.checkNoSource(HeadlessToggleButton())
    }

    /// Upstream: testSettingNonWorkingImageWithFailureImage (NSButtonExtensionTests)
    @Test func theFailureImageIsSet() async throws {
        try await image.checkFailureImage(HeadlessToggleButton())
    }

    /// Upstream: testSettingNonWorkingAlternateImageWithFailureImage
    @Test func theFailureImageIsSetAsAlternate() async throws {
        try await alternate.checkFailureImage(HeadlessToggleButton())
    }

    /// Upstream: testCancelImageTaskCancelsDiskCacheRetrieval
    @Test(.holdingThreads) func cancellingDuringADiskReadKeepsTheImageOutOfMemory() async throws {
        try await image.checkCancellingDiskRead(HeadlessToggleButton())
    }

    /// Upstream: testSupersededDiskCachedAlternateImageDoesNotPromoteToMemory
    @Test(.holdingThreads) func aSupersededDiskImageIsNotPutIntoMemory() async throws {
        try await alternate.checkSuperseding(HeadlessToggleButton())
    }
}
