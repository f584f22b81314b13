import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct JPEGScanCounterTests {
    /// The ends of the scans found when the bytes come in pieces of these lengths, over and over.
    private func scanEnds(_ data: Data, pieces: [Int]) -> (ends: [Int], counter: JPEGScanCounter) {
        var counter = JPEGScanCounter()
        var ends: [Int] = []
        var offset = 0
        var turn = 0
        while offset < data.count {
            let piece = data[offset..<min(data.count, offset + pieces[turn % pieces.count])]
            turn += 1
            offset += piece.count
            piece.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let known = counter.complete
                    rest = rest.dropFirst(counter.scan(UnsafeRawBufferPointer(rebasing: rest)))
                    if counter.complete > known { ends.append(counter.completeLength) }
                }
            }
        }
        return (ends, counter)
    }

    @Test func knowsAfterEachByteWhatTheWholePrefixSays() throws {
        let data = try ProgressiveFixture(width: 24, height: 17).data
        var counter = JPEGScanCounter()
        for (index, byte) in data.enumerated() {
            #expect(withUnsafeBytes(of: byte) { counter.scan($0) } == 1)
            let whole = WholeJPEG(data.prefix(index + 1))
            #expect(counter.complete == whole.scanEnds.count)
            #expect(counter.completeLength == whole.scanEnds.last ?? 0)
            #expect(counter.count == index + 1)
        }
    }

    @Test func takesMarksInSegmentsAndCodedDataForWhatTheyAre() {
        let scan: [UInt8] = [0xFF, 0xDA, 0, 4, 0xFF, 0xDA]
        let file: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 8, 0xFF, 0xC0, 0xFF, 0xDA, 0xFF, 0xD9]  // a comment
            + [0xFF, 0xFF, 0xFF, 0xC2, 0, 3, 0]  // the frame, after padding
            + scan + [1, 0xFF, 0, 0xDA, 0xFF, 0xD3, 2, 0xFF, 0xFF, 0, 0xFF, 0xD7]
            + [0xFF, 0xC4, 0, 4, 0xFF, 0xD9] + scan + [3, 4] + [0xFF, 0xD9]
            + scan + [0xFF, 0xD9]
        let second = 12 + 7 + 6 + 12 + 6
        let (ends, counter) = scanEnds(Data(file), pieces: [1])
        #expect(ends == [second + 2, second + 6 + 2 + 2] && counter.begun == 2 && counter.isAtEnd)
    }

    @Test func followsAnyBytesToTheirEnd() {
        var numbers = SeededGenerator(state: 7)
        for _ in 0..<200 {
            let marks: [UInt8] = [0xFF, 0xDA, 0xC2, 0xC4, 0, 1, 2, 0xD0, 0xD9]
            let tail = (0..<300).map { _ in
                Bool.random(using: &numbers)
                    ? marks.randomElement(using: &numbers) ?? 0
                    : UInt8.random(in: 0...255, using: &numbers)
            }
            let data = Data([0xFF, 0xD8, 0xFF, 0xC2, 0, 3, 0] + tail)
            let (ends, counter) = scanEnds(data, pieces: [1, 5, 31])
            let (whole, wholeCounter) = scanEnds(data, pieces: [data.count])
            #expect(ends == whole && counter == wholeCounter && counter.count == data.count)
        }
    }
}
