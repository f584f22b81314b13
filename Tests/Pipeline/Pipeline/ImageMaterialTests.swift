import Dispatch
import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

struct ImageMaterialTests {
    @Test func otherProcessorsAndCreatingOptionsAreOtherWork() async throws {
        let material = ImageMaterial(.data(Data([9])))
        let first = FirstByteProcessor("a")
        let second = FirstByteProcessor("b")
        _ = try await material.image(.processing(first))
        _ = try await material.image(.processing(second))
        let scaled = try await material.image(.processing(first, [.scaleFactor(2)]))
        #expect(first.calls.count == 2 && second.calls.count == 1)
        #expect(scaled.scale == 2)
    }

    @Test func aProcessorWithoutAResultIsAskedOnce() async {
        let material = ImageMaterial(.data(Data("<html>".utf8)))
        let processor = FirstByteProcessor()
        for _ in 0..<2 {
            await #expect(throws: ImageMaterial.Failure.unprocessed) {
                try await material.image(.processing(processor))
            }
        }
        #expect(processor.calls.count == 1)
    }

    @Test func runsOnTheProcessingQueue() async throws {
        let queue = DispatchQueue(label: "test.processing")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let processor = ProbingProcessor { DispatchQueue.getSpecific(key: key) == true }
        let material = ImageMaterial(.data(Data([9])))
        _ = try await material.image(.processing(processor, [.processingQueue(.dispatch(queue))]))
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

extension ImageMaterial {
    /// The image `options` ask for.
    fileprivate func image(_ options: KingfisherParsedOptionsInfo) async throws -> Image {
        try await handedOver { hand in
            _ = makeImage(options, completion: hand)
        }.get()
    }
}
