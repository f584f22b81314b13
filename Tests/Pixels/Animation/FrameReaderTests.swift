import DirectCodecs
import Foundation
import HalcyonTestKit
import Synchronization
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct FrameReaderTests {
    /// Frames that cover parts of the canvas, are partly transparent, and are disposed of in all ways.
    private static func layered(width: Int = 37, height: Int = 29) -> Data {
        let frames = (0..<12).map { index in
            let part = PixelGrid(
                width: index == 0 ? width : 11, height: index == 0 ? height : 9
            ) { x, y in
                (x + y + index).isMultiple(of: 3) && index != 0
                    ? .clear : Pixel(UInt8(index * 20), UInt8(x / 4 * 15), UInt8(y / 4 * 20))
            }
            return GIFFixture.Frame(
                part, disposal: GIFFixture.Disposal.allCases[index % 4],
                left: index == 0 ? 0 : index * 2, top: index == 0 ? 0 : index)
        }
        return GIFFixture.data(frames, loopCount: 0)
    }

    /// Frames of moving half transparent spots.
    private static func spots() throws -> Data {
        let frames = try (0..<9).map { index in
            try Bitmap.drawn(33, 21, channels: 4) { x, y in
                let inside = abs(x - index * 3) < 6 && abs(y - 10) < 6
                return inside ? [200, UInt8(index * 20), 60, 160] : [10, 60, 110, 255]
            }
        }
        let timing = AnimationTiming(
            durations: [TimeInterval](repeating: 0.05, count: 9), loopCount: 0)
        return try #require(Image(frames: frames, timing: timing))
            .kf.data(format: .WebP, options: ImageEncodingOptions(quality: 1))
    }

    private func expectSameFrames(_ data: Data, tolerance: Double) throws {
        let encoded = try EncodedImage(data)
        let expected = try encoded.decodeAllFrames()
        var reader = try encoded.frameReader()
        for (index, frame) in expected.enumerated() {
            #expect(reader.position <= index)
            let read = try reader.frame(index)
            #expect(reader.position == index + 1 && read.channels == frame.channels)
            let difference = try read.greatestDifference(from: frame)
            #expect(difference <= tolerance, "frame \(index)")
        }
        var skipping = try encoded.frameReader()
        for index in stride(from: expected.count - 1, to: 0, by: -1).reversed()
        where index.isMultiple(of: 3) {
            let difference = try skipping.frame(index).greatestDifference(from: expected[index])
            #expect(difference <= tolerance, "frame \(index)")
        }
    }

    @Test func readsGIFFramesInOrder() throws {
        try expectSameFrames(Self.layered(), tolerance: 0)
        try expectSameFrames(Self.layered(width: 64, height: 48), tolerance: 0)
        try expectSameFrames(Grays.gif(30, width: 50, height: 3), tolerance: 0)
    }

    @Test func readsWebPFramesInOrder() throws {
        try expectSameFrames(Self.spots(), tolerance: 1)
        #expect(try EncodedImage(Self.spots()).frameReader() is CanvasFrameReader)
    }

    @Test func readsPNGFramesInOrder() throws {
        try expectSameFrames(APNGDecodingTests.layered().data, tolerance: 0)
    }

    @Test func readsRealAnimationsInOrder() throws {
        for file in Corpus.files(in: "animated") {
            let encoded = try EncodedImage(Data(contentsOf: file))
            let expected = try encoded.decodeAllFrames()
            var reader = try encoded.frameReader()
            for (index, frame) in expected.enumerated() {
                let read = try reader.frame(index)
                #expect(read.size == frame.size && read.channels == frame.channels)
                let difference = sampledDifference(read, frame)
                #expect(difference < 1, "\(file.lastPathComponent) frame \(index)")
            }
        }
    }

    /// The mean difference of samples that are spread over two bitmaps of one layout.
    private func sampledDifference(_ a: Bitmap, _ b: Bitmap) -> Double {
        a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                let places = stride(from: 0, to: min(a.count, b.count), by: 997)
                let sum = places.reduce(0) { $0 + abs(Int(a[$1]) - Int(b[$1])) }
                return Double(sum) / Double(max(1, a.count / 997))
            }
        }
    }

    @Test func givesEachFrameMemoryOfItsOwn() throws {
        var reader = try EncodedImage(Grays.gif(3)).frameReader()
        let frames = try (0..<3).map { try reader.frame($0) }
        #expect(Set(frames.map(\.identity)).count == 3)
        #expect(frames.allSatisfy { $0.storage.count == $0.byteCount })
    }

    @Test func deliversTheFramesBeforeADamagedOne() throws {
        var data = Grays.gif(3)
        // The first code of the last frame becomes one that is not defined yet.
        let offset = GIFFile(data).frames[2].image.dataOffset
        data[offset + 2] = 0xFF
        data[offset + 3] = 0xFF
        var reader = try EncodedImage(data).frameReader()
        #expect(try reader.frame(0).grayIndex == 0)
        #expect(try reader.frame(1).grayIndex == 1)
        #expect(throws: ImageCodingError.self) { try reader.frame(2) }
        let source = try #require(Image(data: data)?.kf.frameSource)
        #expect(source.frame(at: 1)?.grayIndex == 1)
        #expect(source.frame(at: 2) == nil)
        #expect(source.frame(at: 0)?.grayIndex == 0)
    }

    // MARK: What reading costs

    /// A reader that counts the frames it decodes, the skipped ones too.
    private struct CountingReader: FrameReader {
        var position = 0
        let decoded: Locked<Int>

        mutating func frame(_ index: Int) throws -> Bitmap {
            decoded.withLock { $0 += index - position + 1 }
            position = index + 1
            return try Grays.bitmap(index)
        }
    }

    private func countedSource(_ count: Int) throws -> (DecodingFrameSource, Locked<Int>) {
        let content = try #require(Image(data: Grays.gif(count))).content
        let decoded = Locked(0)
        let source = DecodingFrameSource(content, data: nil) { CountingReader(decoded: decoded) }
        return (source, decoded)
    }

    @Test func decodesEachFrameOncePerReaderAtDifferentPlaces() throws {
        let (source, decoded) = try countedSource(40)
        for index in 0..<20 { _ = source.frame(at: index) }
        #expect(decoded.value == 20)
        for step in 0..<20 {
            #expect(source.frame(at: 20 + step)?.grayIndex == 20 + step)
            #expect(source.frame(at: step)?.grayIndex == step)
        }
        #expect(decoded.value == 60)
    }

    @Test func startsAgainAfterAStepBack() throws {
        let (source, decoded) = try countedSource(40)
        _ = source.frame(at: 10)
        #expect(decoded.value == 11)
        _ = source.frame(at: 5)
        #expect(decoded.value == 17)
        _ = source.frame(at: 12)
        #expect(decoded.value == 19)
    }

    @Test func keepsAsManyReadersAsAllowed() throws {
        var idle = IdleFrameReaders(limit: 2)
        for position in [3, 9, 6] {
            idle.put(CountingReader(position: position, decoded: Locked(0)))
        }
        #expect(idle.readers.map(\.position) == [9, 6])
        #expect(idle.take(for: 5) == nil)
        #expect(idle.take(for: 12)?.position == 9)
        #expect(idle.take(for: 12)?.position == 6)
        #expect(idle.take(for: 12) == nil)
    }
}
