import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct ColourConversionTests {
    @Test func leavesSRGBAsItIs() throws {
        let bitmap = try Bitmap.gradient(40, 30)
        let data = try bitmap.vipsImage().encoded("pngsave_buffer", ["profile": "srgb"])
        #expect(try decoded(data).greatestDifference(from: bitmap) == 0)
    }

    @Test(
        arguments: [
            ([0, 0, 0, 0], [255, 255, 255], 3.0), ([0, 0, 0, 255], [30, 30, 30], 40),
            ([255, 0, 0, 0], [0, 160, 225], 60), ([0, 255, 255, 0], [230, 30, 40], 60),
        ] as [([UInt8], [UInt8], Double)])
    func convertsCMYK(_ ink: [UInt8], _ expected: [UInt8], _ tolerance: Double) throws {
        let pixels = (0..<256).flatMap { _ in ink }
        let owner = NSData(data: Data(pixels))
        let image = try VipsImage.memory(
            owner.bytes, count: pixels.count, owner: owner, width: 16, height: 16, bands: 4,
            format: .uchar, interpretation: .cmyk)
        let jpeg = try image.encoded("jpegsave_buffer", ["Q": 100])
        #expect(JPEGFrame(jpeg)?.componentCount == 4)
        let tiff = try image.encoded("tiffsave_buffer")
        for data in [jpeg, tiff] {
            let picture = try Image.decoding(data)
            #expect(!picture.hasAlpha)
            let found = try picture.bitmap().samples(8, 8)
            for (a, b) in zip(found, expected) { #expect(abs(Double(a) - Double(b)) <= tolerance) }
        }
    }

    /// Upstream: testDecodingSupportsVariousPixelFormats
    @Test(arguments: [ImageFormat.HEIC, .AVIF])
    func fillsTheRangeOfTenBits(_ format: ImageFormat) throws {
        guard ImageFormat.writable.contains(format), ImageFormat.readable.contains(format) else {
            return
        }
        let white = try Bitmap.deep(32, 32, Data(repeating: 0xFF, count: 32 * 32 * 6))
        let image = try decoded(encoded(white, as: format))
        #expect(image.depth == .sixteen && image[5, 5].green > 0.999)
    }

    /// Kinds of TIFF, as white with one black corner, all become 8 or 16 bits of sRGB.
    @Test(arguments: [
        "bilevel", "grey", "grey with alpha", "grey 16", "lab", "float", "float grey", "rgb 16",
        "five bands", "jpeg",
    ])
    func readsEveryKindOfTIFF(_ kind: String) throws {
        let rgb = try Bitmap.drawn(16, 16) { x, y in x < 8 && y < 8 ? [0, 0, 0] : [255, 255, 255] }
            .vipsImage()
        let grey = try rgb.converted(to: .bw)
        let image =
            switch kind {
            case "bilevel", "grey": grey
            case "grey with alpha": try grey.addingAlpha()
            case "grey 16": try grey.converted(to: .grey16)
            case "lab": try rgb.converted(to: .lab)
            case "float": try rgb.converted(to: .scrgb)
            case "float grey": try grey.cast(to: .float)
            case "rgb 16": try rgb.converted(to: .rgb16)
            case "five bands": try rgb.addingAlpha().bandJoined(with: grey)
            default: rgb
            }
        let options: [String: [String: VipsValue]] = [
            "bilevel": ["bitdepth": 1], "jpeg": ["compression": "jpeg", "Q": 95],
        ]
        let read = try Image.decoding(image.encoded("tiffsave_buffer", options[kind] ?? [:]))
        #expect(read.hasAlpha == ["grey with alpha", "five bands"].contains(kind))
        #expect((read.depth == .sixteen) == kind.hasSuffix("16"))
        let bitmap = try read.bitmap()
        #expect(bitmap.rgb(3, 3).allSatisfy { $0 < 5 })
        #expect(bitmap.samples(12, 12).allSatisfy { $0 > 250 })
    }
}
