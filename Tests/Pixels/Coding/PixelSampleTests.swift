import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct PixelSampleTests {
    @Test(arguments: PixelSample.all)
    func pixelsAreThoseOfOtherDecoders(_ sample: PixelSample) throws {
        let image = try Image.decoding(SampleFile.data(sample.file))
        if let checksum = sample.checksum {
            #expect(PNGFixture.checksum([UInt8](try image.bitmap().data)) == checksum)
            return
        }
        #expect(image.frameCount == sample.frames.count)
        for (index, frame) in sample.frames.enumerated() {
            let found = try image.bitmap(frame: index)
            let expected = try decoded(SampleFile.data(frame))
            #expect(found.hasAlpha == expected.hasAlpha && found.depth == expected.depth)
            let difference = try found.visibleDifference(from: expected)
            #expect(difference <= sample.tolerance, "frame \(index)")
        }
    }
}
