import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct VipsEncoderTests {
    static let writable = ImageFormat.writable
    static let lossless: [ImageFormat] = [.PNG, .TIFF]

    /// Those of the formats that are written here.
    static func among(_ formats: ImageFormat...) -> [ImageFormat] {
        formats.filter { writable.contains($0) }
    }

    @Test func writesEveryCommonFormat() {
        #expect(Set(Self.writable).isSuperset(of: [.JPEG, .PNG, .GIF, .WebP, .TIFF]))
        #expect(!Self.writable.contains(.SVG))
    }

    @Test(arguments: writable)
    func givesBackWhatWasWritten(_ format: ImageFormat) throws {
        for channels in [3, 4] where channels == 3 || format != .JPEG && format != .GIF {
            let bitmap = try Bitmap.gradient(48, 36, channels: channels)
            let back = try decoded(encoded(bitmap, as: format))
            #expect(back.channels == channels)
            // A palette of 256 colours is coarse.
            let tolerance = Self.lossless.contains(format) ? 0 : format == .GIF ? 12.0 : 2.5
            #expect(try back.meanDifference(from: bitmap) <= tolerance)
        }
    }

    @Test(arguments: writable)
    func keepsSixteenBitsWhereTheFormatCan(_ format: ImageFormat) throws {
        let bytes = Data(
            (0..<32 * 32).flatMap { place -> [UInt8] in
                let sample = littleEndian(place * 60 + 3, 2)
                return sample + sample + sample
            })
        let bitmap = try Bitmap.deep(32, 32, bytes)
        let back = try decoded(encoded(bitmap, as: format))
        let isDeep = [.PNG, .TIFF, .AVIF, .HEIC, .JPEGXL].contains(format)
        #expect(back.depth == (isDeep ? .sixteen : .eight))
        if Self.lossless.contains(format) {
            #expect(back.data == bytes)
        } else if format != .GIF {
            #expect(try back.meanDifference(from: bitmap) < 4)
        }
    }

    @Test(arguments: among(.WebP, .JPEGXL), [3, 4])
    func losesNothingInALosslessMode(_ format: ImageFormat, channels: Int) throws {
        var random = SeededGenerator(state: UInt64(channels))
        // Every fourth pixel is wholly transparent, but not without colour.
        let bitmap = try Bitmap.drawn(61, 47, channels: channels) { x, y in
            let noise = random.next()
            return (0..<3).map { UInt8(truncatingIfNeeded: noise >> (8 * $0)) }
                + [(x + y) % 4 == 0 ? 0 : UInt8(truncatingIfNeeded: noise >> 24)]
        }
        let back = try decoded(encoded(bitmap, as: format, isLossless: true))
        #expect(back.channels == channels)
        #expect(back.data == bitmap.data)
        #expect(try decoded(encoded(bitmap, as: format)).data != bitmap.data)
    }

    @Test func aLosslessFileWithMetadataLosesNothingThatCanBeSeen() throws {
        let bitmap = try Bitmap.drawn(40, 30, channels: 4) { x, y in
            [UInt8(x * 6), UInt8(y * 8), UInt8(x * y % 256), (x + y) % 3 == 0 ? 0 : 200]
        }
        let xmp = ImageMetadata(xmp: Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
        let file = try encoded(bitmap, as: .WebP, isLossless: true, metadata: xmp)
        #expect(try ImageMetadata(reading: file).xmp == xmp.xmp)
        let back = try decoded(file)
        for y in 0..<30 {
            for x in 0..<40 where bitmap[x, y].alpha > 0 {
                #expect(back.samples(x, y) == bitmap.samples(x, y))
            }
            #expect((0..<40).allSatisfy { back[$0, y].alpha == bitmap[$0, y].alpha })
        }
    }

    @Test func losslessWebPOfSixteenBitsHoldsEight() throws {
        let deep = try Bitmap.deep(8, 8, Data(repeating: 0x80, count: 8 * 8 * 6))
        let back = try decoded(encoded(deep, as: .WebP, isLossless: true))
        #expect(back.depth == .eight && back.samples(3, 3) == [0x80, 0x80, 0x80])
        #expect(throws: ImageCodingError.self) { try LosslessWebP.encode(deep) }
    }

    @Test(arguments: among(.JPEG, .WebP, .AVIF, .JPEGXL))
    func spendsFewerBytesOnLessQuality(_ format: ImageFormat) throws {
        let bitmap = try Bitmap.drawn(96, 96) { x, y in
            [UInt8(x * y % 251), UInt8((x * 7 + y * 3) % 256), UInt8(x * 2)]
        }
        let sizes = try [0, 0.5, 1].map { try encoded(bitmap, as: format, quality: $0).count }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }

    @Test(arguments: [(0, 1), (1, 100), (-3, 1), (7, 100), (.nan, 100)] as [(CGFloat, Int)])
    func mapsQualityOntoTheCodecsRange(_ quality: CGFloat, _ level: Int) {
        #expect(VipsSaver.level(quality) == level)
    }

    @Test(arguments: [ImageFormat.JPEG, .PNG, .WebP, .GIF, .TIFF], [1, 17])
    func writesPlainJPEGAndPNGOfOddSizes(_ format: ImageFormat, _ width: Int) throws {
        let bitmap = try Bitmap.gradient(width, 1)
        #expect(try decoded(encoded(bitmap, as: format)).size == bitmap.size)
    }

    @Test func saysWhichSizesAFormatCannotHold() throws {
        let wide = try Bitmap.gradient(16384, 1)
        let tooWide = ImageCodingError.encodingFailed(
            .WebP, reason: "16384×1 pixels are outside of 1…16383 a side")
        #expect(throws: tooWide) { try encoded(wide, as: .WebP) }
        #expect(throws: ImageCodingError.self) { try encoded(wide, as: .WebP, isLossless: true) }
        #expect(throws: ImageCodingError.self) { try LosslessWebP.encode(wide) }
        guard Self.writable.contains(.AVIF) else { return }
        let tooSmall = ImageCodingError.encodingFailed(
            .AVIF, reason: "15×40 pixels are outside of 16…16384 a side")
        #expect(throws: tooSmall) { try encoded(.gradient(15, 40), as: .AVIF) }
    }

    @Test(arguments: [ImageFormat.SVG, .PDF, .BMP, .ICO, .unknown])
    func writesNoOtherFormat(_ format: ImageFormat) throws {
        #expect(throws: ImageCodingError.self) { try encoded(.gradient(16, 16), as: format) }
    }

    // MARK: Metadata

    private static let traces = ["Exif", "EXIF", "secret", "xmpmeta", "Photoshop"]

    private static func traces(in data: Data) -> [String] {
        traces.filter { data.firstRange(of: Data($0.utf8)) != nil }
    }

    @Test(arguments: writable)
    func writesNoMetadataUnlessAsked(_ format: ImageFormat) throws {
        let photo = try Self.photo()
        #expect(!Self.traces(in: photo).isEmpty)
        let image = try Image.decoding(photo)
        let data = try image.kf.data(format: format, options: ImageEncodingOptions())
        #expect(Self.traces(in: data) == [])
        #expect(try ImageMetadata(reading: data) == ImageMetadata())
        #expect(try Image.decoding(data).pixelSize == PixelSize(24, 40))
    }

    /// A file that is turned to the right.
    private static func photo() throws -> Data {
        EXIFFixture.turned(try encoded(.gradient(40, 24), as: .JPEG), 6)
    }

    @Test(arguments: among(.JPEG, .PNG, .WebP, .AVIF, .HEIC))
    func writesMetadataWhenAskedWithTheOrientationReset(_ format: ImageFormat) throws {
        let photo = try Self.photo()
        let metadata = try ImageMetadata(reading: photo)
        #expect(metadata.exif != nil)
        let options = ImageEncodingOptions(metadata: metadata)
        let data = try Image.decoding(photo).kf.data(format: format, options: options)
        #expect(Self.traces(in: data).contains("secret"))
        // Upright pixels that nobody turns again.
        let back = try Image.decoding(data)
        #expect(back.pixelSize == PixelSize(24, 40))
        #expect(try back.bitmap().size == PixelSize(24, 40))
    }

    @Test(arguments: among(.JPEG, .PNG, .WebP, .TIFF, .AVIF, .HEIC))
    func writesXMP(_ format: ImageFormat) throws {
        let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret</x:xmpmeta>".utf8)
        let data = try encoded(.gradient(20, 20), as: format, metadata: ImageMetadata(xmp: xmp))
        #expect(try ImageMetadata(reading: data).xmp == xmp)
    }

    @Test(arguments: among(.GIF, .JPEGXL, .TIFF))
    func leavesOutWhatTheFormatCannotHold(_ format: ImageFormat) throws {
        let metadata = ImageMetadata(exif: EXIFFixture.block(orientation: 1))
        let data = try encoded(.gradient(20, 20), as: format, metadata: metadata)
        #expect(try decoded(data).size == PixelSize(width: 20, height: 20))
        #expect(try ImageMetadata(reading: data).exif == nil)
    }

    @Test func resetsOnlyTheOrientation() {
        for prefix in [true, false] {
            let block = EXIFFixture.block(orientation: 6, prefix: prefix)
            let upright = EXIFFixture.block(orientation: 1, prefix: prefix)
            #expect(EXIFBlock.upright(block) == upright)
            #expect(EXIFBlock.upright(Data([0]) + block).count == block.count + 1)
        }
        let junk = Data("Exif\0\0II*\0\u{FF}\u{FF}".utf8)
        #expect(EXIFBlock.upright(junk) == junk)
    }
}
