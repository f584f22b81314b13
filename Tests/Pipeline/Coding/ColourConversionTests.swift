import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct ColourConversionTests {
    /// Decoding curve of sRGB and Display P3 (IEC 61966-2-1).
    private static func linear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encodedValue(_ value: Double) -> Double {
        let value = min(max(value, 0), 1)
        return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }

    /// Display P3 in sRGB: both have the same white, so that one matrix tells all.
    private static func fromDisplayP3(_ samples: [UInt8]) -> [Double] {
        let p3 = samples.map { linear(Double($0) / 255) }
        return [
            1.224940 * p3[0] - 0.224940 * p3[1],
            -0.042057 * p3[0] + 1.042057 * p3[1],
            -0.019638 * p3[0] - 0.078636 * p3[1] + 1.098274 * p3[2],
        ].map(encodedValue)
    }

    @Test(
        arguments: [
            [128, 128, 128], [200, 120, 80], [60, 140, 200], [255, 0, 0], [0, 255, 0],
            [255, 255, 255],
        ] as [[UInt8]])
    func convertsDisplayP3(_ colour: [UInt8]) throws {
        for alpha in [[], [77]] as [[UInt8]] {
            let bitmap = try Bitmap.drawn(8, 8, channels: 3 + alpha.count) { _, _ in colour + alpha
            }
            let data = try bitmap.vipsImage().encoded("pngsave_buffer", ["profile": "p3"])
            let pixel = try decoded(data)[3, 3]
            for (found, expected) in zip(
                [pixel.red, pixel.green, pixel.blue], Self.fromDisplayP3(colour))
            {
                #expect(abs(found - expected) * 255 < 2.5)
            }
            #expect(Int((pixel.alpha * 255).rounded()) == Int(alpha.first ?? 255))
        }
    }

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
        let white = Data(repeating: 0xFF, count: 32 * 32 * 6)
        let bitmap = try #require(
            Bitmap(
                pixels: white, size: PixelSize(width: 32, height: 32), channels: 3, depth: .sixteen)
        )
        let image = try decoded(encoded(bitmap, as: format))
        #expect(image.depth == .sixteen)
        #expect(image[5, 5].green > 0.999)
    }

    @Test func convertsDisplayP3ThatIsOnlyNamed() throws {
        let colour: [UInt8] = [200, 120, 80]
        // Display P3 with the curve of sRGB.
        let data = try AVIFFixture(primaries: 12, transfer: 13).data(
            .solid(Pixel(200, 120, 80), width: 32, height: 32))
        let pixel = try decoded(data)[9, 9]
        for (found, expected) in zip(
            [pixel.red, pixel.green, pixel.blue], Self.fromDisplayP3(colour))
        {
            #expect(abs(found - expected) * 255 < 3.5)
        }
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
        let data =
            switch kind {
            case "bilevel": try grey.encoded("tiffsave_buffer", ["bitdepth": 1])
            case "grey": try grey.encoded("tiffsave_buffer")
            case "grey with alpha": try grey.addingAlpha().encoded("tiffsave_buffer")
            case "grey 16": try grey.converted(to: .grey16).encoded("tiffsave_buffer")
            case "lab": try rgb.converted(to: .lab).encoded("tiffsave_buffer")
            case "float": try rgb.converted(to: .scrgb).encoded("tiffsave_buffer")
            case "float grey": try grey.cast(to: .float).encoded("tiffsave_buffer")
            case "rgb 16": try rgb.converted(to: .rgb16).encoded("tiffsave_buffer")
            case "five bands":
                try rgb.addingAlpha().bandJoined(with: grey).encoded("tiffsave_buffer")
            default: try rgb.encoded("tiffsave_buffer", ["compression": "jpeg", "Q": 95])
            }
        let image = try Image.decoding(data)
        #expect(image.hasAlpha == ["grey with alpha", "five bands"].contains(kind))
        #expect((image.depth == .sixteen) == kind.hasSuffix("16"))
        let bitmap = try image.bitmap()
        #expect(bitmap.samples(3, 3).prefix(3).allSatisfy { $0 < 5 })
        #expect(bitmap.samples(12, 12).allSatisfy { $0 > 250 })
    }
}
