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
        #expect(first.calls.count == 2 && second.calls.count == 1 && scaled.scale == 2)
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
        let isThere = Recorder<Bool>()
        let processor = ClosureProcessor { item, options in
            isThere.record(DispatchQueue.getSpecific(key: key) == true)
            return FirstByteProcessor().process(item: item, options: options)
        }
        let material = ImageMaterial(.data(Data([9])))
        _ = try await material.image(.processing(processor, [.processingQueue(.dispatch(queue))]))
        #expect(isThere.events == [true])
    }
}

extension ImageMaterial {
    fileprivate func image(_ options: KingfisherParsedOptionsInfo) async throws -> Image {
        let made = await handedOver { hand in
            makeImage(options, for: DownloadTask(), completion: hand)
        }
        return try #require(made).get()
    }
}
