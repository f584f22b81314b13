import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import DirectCodecs
@testable import Halcyon
@testable import HalcyonPixels

/// JPEG files that say something beside their pixels.
struct JPEGMetadataWritingTests {
    private func file(
        _ metadata: ImageMetadata? = nil, profile: Data? = nil, isProgressive: Bool = false
    ) throws -> Data {
        var options = ImageEncodingOptions(quality: 0.8, metadata: metadata)
        options.profile = profile
        options.isProgressive = isProgressive
        return try ImageEncoders.encode(
            [.gradient(40, 24)], timing: nil, as: .JPEG, options: options)
    }

    private func pixels(of file: Data) throws -> Data {
        try decoded(file).withUnsafeBytes { Data($0) }
    }

    /// The second bytes of the marks before the coded data.
    private func marks(_ file: Data) -> [UInt8] {
        file.withUnsafeBytes { bytes in
            var segments = JPEGSegments(bytes)
            var codes: [UInt8] = []
            while codes.last != 0xDA, let segment = segments.next() { codes.append(segment.code) }
            return codes
        }
    }

    @Test func noticesOfRightsAreAllThatIsWritten() throws {
        let exif = try #require(EXIFBlock.rights(of: EXIFFixture.block(orientation: 6)))
        let iptc = Data([0x1C, 2, 116, 0, 4]) + Data("mine".utf8)
        let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'>mine</x:xmpmeta>".utf8)
        let file = try file(ImageMetadata(exif: exif, xmp: xmp, iptc: iptc))
        #expect(Array(marks(file).prefix(4)) == [0xE0, 0xE1, 0xE1, 0xED])
        let back = try ImageMetadata(reading: file)
        #expect(back.exif == exif && back.xmp == xmp)
        #expect(back.iptc?.starts(with: Data("Photoshop 3.0\08BIM".utf8)) == true)
        #expect(back.iptc.flatMap { IPTCBlock.rights(of: $0) } == back.iptc)
        // Another reader finds the same.
        let other = try VipsLoader.of(.JPEG).open(file)
        #expect(other.blob("exif-data") == exif && other.blob("xmp-data") == xmp)
        #expect(other.blob("iptc-data") == back.iptc)
        #expect(try pixels(of: file) == pixels(of: self.file()))
    }

    /// What a profile is of does not count where samples are written as they are.
    @Test func aLongProfileIsWrittenInParts() throws {
        let profile = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let file = try file(profile: profile)
        #expect(Array(marks(file).prefix(4)) == [0xE0, 0xE2, 0xE2, 0xE2])
        #expect(try VipsLoader.of(.JPEG).open(file).blob("icc-profile-data") == profile)
    }

    @Test func filesFromCoarseToFineHaveTheSamePixels() throws {
        let file = try file(isProgressive: true)
        #expect(marks(file).contains(0xC2))
        #expect(try pixels(of: file) == pixels(of: self.file()))
    }

    /// EXIF data that counts pixels is brought up to date by libvips.
    @Test func theCountOfPixelsInEXIFIsThatOfThePicture() throws {
        let block = CameraFixture.block()
        #expect(!EXIFBlock.isPlain(block))
        let back = try ImageMetadata(reading: file(ImageMetadata(exif: block))).exif
        let camera = try #require(back).withUnsafeBytes { ImageInformation.Camera(exif: $0) }
        #expect(camera?.model == "Kingfisher 1")
    }

    @Test func aBlockThatIsTooLongDoesNotCostThePicture() throws {
        let file = try file(ImageMetadata(xmp: Data(repeating: 0x20, count: 70_000)))
        #expect(try decoded(file).size == PixelSize(width: 40, height: 24))
    }
}
