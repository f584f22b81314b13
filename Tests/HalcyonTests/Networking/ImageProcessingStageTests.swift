import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct ImageProcessingStageTests {
    @Test func equalWorkIsDoneOnce() async throws {
        let stage = ImageProcessingStage(data: Data([9]))
        let processor = FirstByteProcessor()
        let images = try await withThrowingTaskGroup(of: Image.self) { group in
            for _ in 0..<50 {
                group.addTask { try await stage.image(.processing(processor)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(processor.calls.count == 1)
        #expect(images.count == 50 && images.allSatisfy { $0 === images[0] })
        #expect(images[0].isRendered)
    }

    @Test func otherProcessorsAndCreatingOptionsAreOtherWork() async throws {
        let stage = ImageProcessingStage(data: Data([9]))
        let first = FirstByteProcessor("a")
        let second = FirstByteProcessor("b")
        _ = try await stage.image(.processing(first))
        _ = try await stage.image(.processing(second))
        let scaled = try await stage.image(.processing(first, [.scaleFactor(2)]))
        #expect(first.calls.count == 2 && second.calls.count == 1)
        #expect(scaled.scale == 2)
    }

    @Test func aProcessorWithoutAResultFailsWith4001() async {
        let stage = ImageProcessingStage(data: Data("<html>".utf8))
        let processor = FirstByteProcessor()
        for _ in 0..<2 {
            do {
                _ = try await stage.image(.processing(processor))
                Issue.record("there was an image")
            } catch {
                #expect(error.errorCode == 4001)
            }
        }
        #expect(processor.calls.count == 1)
    }

    @Test func runsOnTheProcessingQueue() async throws {
        let queue = DispatchQueue(label: "test.processing")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let processor = ProbingProcessor { DispatchQueue.getSpecific(key: key) == true }
        let stage = ImageProcessingStage(data: Data([9]))
        _ = try await stage.image(.processing(processor, [.processingQueue(.dispatch(queue))]))
        #expect(processor.answers.events == [true])
    }
}

/// Looks at the thread it runs on.
private struct ProbingProcessor: ImageProcessor {
    let identifier = "test.probing"
    let answers = Recorder<Bool>()
    let probe: @Sendable () -> Bool

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        answers.record(probe())
        return FirstByteProcessor().process(item: item, options: options)
    }
}

extension ImageProcessingStage {
    /// The image `options` ask for.
    fileprivate func image(_ options: KingfisherParsedOptionsInfo) async throws(KingfisherError)
        -> Image
    {
        let made: Result<Image, KingfisherError> = await handedOver { hand in
            makeImage(options, completion: hand)
        }
        return try made.get()
    }
}
