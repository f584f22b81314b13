import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct CompressionTargetTests {
    static let formats = VipsEncoderTests.among(.JPEG, .WebP, .AVIF, .HEIC, .JPEGXL)

    /// Smooth, with some noise.
    private let bitmap: Bitmap

    init() throws {
        var random = SeededGenerator(state: 3)
        bitmap = try Bitmap.drawn(128, 96) { x, y in
            let noise = Int(random.next() % 48)
            return [UInt8(x + noise), UInt8(y * 2 + noise / 2), UInt8((x + y) / 2 + noise)]
        }
    }

    private var image: Image { Image(bitmap: bitmap) }

    @Test(arguments: formats)
    func theBestFileOfANumberOfBytesIsFound(_ format: ImageFormat) throws {
        let most = try encoded(bitmap, as: format, quality: 0.6).count
        let file = try image.kf.data(format: format, target: .bytes(most))
        #expect(file.data.count <= most && file.data.count > most / 2)
        #expect((0.3...0.95).contains(file.quality))
        #expect(file.data.kf.imageFormat == format)
        let same = try encoded(bitmap, as: format, quality: file.quality)
        #expect(file.data == same)
        let ssim = try bitmap.structuralSimilarity(to: decoded(file.data))
        #expect(abs(file.ssim - ssim) < 1e-9)
    }

    @Test(arguments: formats)
    func theSmallestFileOfASimilarityIsFound(_ format: ImageFormat) throws {
        let middle = try encoded(bitmap, as: format, quality: 0.6)
        let best = try encoded(bitmap, as: format, quality: 0.95)
        let least = try bitmap.structuralSimilarity(to: decoded(middle))
        let file = try image.kf.data(format: format, target: .ssim(least))
        #expect(file.ssim >= least && file.data.count < best.count)
        #expect((0.3...0.95).contains(file.quality))
    }

    @Test func targetsThatAreEasilyReachedEndAtTheRange() throws {
        #expect(try image.kf.data(format: .JPEG, target: .bytes(1 << 30)).quality == 0.95)
        #expect(try image.kf.data(format: .JPEG, target: .ssim(0)).quality == 0.3)
    }

    @Test func targetsThatNoQualityReachesAreErrors() throws {
        #expect {
            try image.kf.data(format: .JPEG, target: .bytes(10))
        } throws: { error in
            let text = (error as? ImageCodingError)?.description ?? ""
            return text.contains("JPEG: at quality 0.3 it has") && text.contains("more than 10.")
        }
        #expect {
            try image.kf.data(format: .WebP, target: .ssim(1))
        } throws: { error in
            let text = (error as? ImageCodingError)?.description ?? ""
            return text.contains("at quality 0.95 its SSIM is 0.") && text.contains("less than 1")
        }
        for target in [CompressionTarget.ssim(.nan), .ssim(-1), .ssim(1.5), .bytes(0), .bytes(-1)] {
            #expect(throws: ImageCodingError.self) {
                try image.kf.data(format: .JPEG, target: target)
            }
        }
    }

    @Test(arguments: [ImageFormat.PNG, .GIF, .TIFF, .BMP, .SVG, .unknown])
    func aFormatWithoutAQualityIsAnError(_ format: ImageFormat) {
        #expect(throws: ImageCodingError.self) {
            try image.kf.data(format: format, target: .bytes(100_000))
        }
        #expect(!CompressionTarget.formats.contains(format))
    }

    @Test func losslessFilesHaveNoQuality() {
        #expect(throws: ImageCodingError.self) {
            try image.kf.data(
                format: .WebP, target: .bytes(100_000), options: .init(isLossless: true))
        }
    }

    @Test func anAnimationKeepsItsFramesAndItsFileIsMadeAnew() throws {
        let other = try Bitmap.gradient(128, 96)
        let timing = AnimationTiming(durations: [0.1, 0.2], loopCount: 0)
        let animation = try #require(Image(frames: [bitmap, other], timing: timing))
        let original = try animation.kf.data(format: .WebP, options: .init())
        let read = try Image.decoding(original)
        let file = try read.kf.data(format: .WebP, target: .bytes(original.count / 2))
        #expect(file.data.count <= original.count / 2)
        #expect(try Image.decoding(file.data).frameCount == 2)
        let still = try read.kf.data(format: .JPEG, target: .ssim(0.5))
        #expect(try Image.decoding(still.data).frameCount == 1)
    }

    @Test func metadataIsWritten() throws {
        let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        let options = ImageEncodingOptions(metadata: ImageMetadata(xmp: xmp))
        let file = try image.kf.data(format: .JPEG, target: .ssim(0.5), options: options)
        #expect(try ImageMetadata(reading: file.data).xmp == xmp)
    }
}
