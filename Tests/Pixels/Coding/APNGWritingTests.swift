import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct APNGWritingTests {
    private static let timing = AnimationTiming(durations: [0.1, 0.25, 0.04, 120], loopCount: 3)

    /// A square that wanders over colours without a pattern.
    private static func frames(channels: Int) throws -> [Bitmap] {
        try (0..<4).map { index in
            try Bitmap.drawn(31, 22, channels: channels) { x, y in
                let isInside = (index * 5..<index * 5 + 6).contains(x) && (4..<11).contains(y)
                return isInside
                    ? [250, 30, UInt8(index * 60), UInt8(90 + index * 40)]
                    : [UInt8(x * 7 % 256), UInt8(y * 11 % 256), UInt8(x * y % 256), 255]
            }
        }
    }

    private static func written(_ frames: [Bitmap]) throws -> Data {
        try #require(Image(frames: frames, timing: timing))
            .kf.data(format: .PNG, options: ImageEncodingOptions())
    }

    @Test(arguments: [3, 4])
    func whatIsWrittenIsReadAgainToTheBit(_ channels: Int) throws {
        let frames = try Self.frames(channels: channels)
        let image = try Image.decoding(Self.written(frames))
        #expect(image.animation == Self.timing)
        #expect(image.hasAlpha == (channels == 4))
        #expect(try image.allBitmaps().map(\.data) == frames.map(\.data))
    }

    @Test func onlyWhatChangesIsWritten() throws {
        let frames = try Self.frames(channels: 3)
        let sizes = PNGFixture.chunks(of: try Self.written(frames)).filter { $0.type == "fcTL" }
            .map { chunk in [7, 11, 15, 19].map { chunk.data[$0] } }
        // Width, height, left, top: the places of two squares from the second frame on.
        #expect(sizes == [[31, 22, 0, 0], [11, 7, 0, 4], [11, 7, 5, 4], [11, 7, 10, 4]])
    }

    @Test func aFrameLikeTheOneBeforeIsAFrame() throws {
        let frame = try Bitmap.gradient(20, 10)
        let image = try Image.decoding(Self.written([frame, frame, frame, frame]))
        #expect(image.animation == Self.timing)
        #expect(try image.bitmap(frame: 3).data == frame.data)
    }

    @Test func opaqueFramesAreWrittenWithoutOpacity() throws {
        let frames = try (0..<4).map { index in
            try Bitmap.drawn(9, 9, channels: 4) { x, y in [UInt8(x * index), UInt8(y), 3, 255] }
        }
        let image = try Image.decoding(Self.written(frames))
        #expect(!image.hasAlpha)
        #expect(try image.bitmap(frame: 2).samples(5, 1) == [10, 1, 3])
    }

    @Test func deepFramesAreWrittenWithEightBits() throws {
        let frames = try (0..<4).map { index in
            let pixels = (0..<8 * 8 * 3).flatMap { _ in [UInt8(index), UInt8(100 + index)] }
            return try Bitmap.deep(8, 8, Data(pixels))
        }
        let image = try Image.decoding(Self.written(frames))
        #expect(image.depth == .eight)
        #expect(try image.bitmap(frame: 3).samples(1, 1)[0].distance(to: 103).magnitude <= 1)
    }

    @Test func metadataIsWrittenWhereItIsAskedFor() throws {
        let frames = try Self.frames(channels: 3)
        let image = try #require(Image(frames: frames, timing: Self.timing))
        let metadata = ImageMetadata(
            exif: EXIFFixture.block(orientation: 6),
            xmp: Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
        let data = try image.kf.data(
            format: .PNG, options: ImageEncodingOptions(metadata: metadata))
        func hasEXIF(_ file: Data) -> Bool {
            PNGFixture.chunks(of: file).contains { $0.type == "eXIf" }
        }
        #expect(try hasEXIF(data) && !hasEXIF(Self.written(frames)))
        #expect(try ImageMetadata(reading: data).xmp == metadata.xmp)
        // The pixels are upright, and so the orientation says.
        #expect(try Image.decoding(data).pixelSize == image.pixelSize)
    }

    private static let file = APNGFixture(
        [Pixel.red, .blue].map { APNGFixture.Frame(.solid($0, width: 20, height: 10)) }
    ).data

    @Test func anAnimatedFileThatIsNotProcessedStaysAsItIs() throws {
        let image = try Image.decoding(Self.file)
        #expect(image.kf.data(format: .PNG) == Self.file)
        // Kingfisher's own way to PNG knows pictures only.
        let still = try #require(image.kf.pngRepresentation())
        #expect(try Image.decoding(still).animation == nil)
        #expect(try decoded(still).rgb(4, 2) == [255, 0, 0])
        let gif = try #require(image.kf.gifRepresentation())
        #expect(try Image.decoding(gif).frameCount == 2)
    }

    @Test func processedAnimationsAreStoredWithAllFrames() throws {
        let image = try Image.decoding(Self.file)
            .kf.resize(to: CGSize(width: 10, height: 5), for: .none)
        let stored = DefaultCacheSerializer.default.data(with: image, original: Self.file)
        let back = try Image.decoding(#require(stored))
        #expect(back.frameCount == 2 && back.pixelSize == PixelSize(10, 5))
        #expect(try back.bitmap(frame: 1).rgb(4, 2) == [0, 0, 255])
    }
}
