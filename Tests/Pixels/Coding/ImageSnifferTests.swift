import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct ImageSnifferTests {
    static func bytes(_ text: String) -> Data { Data(text.utf8) }
    static func isoMedia(_ brands: [String]) -> Data {
        let box = brands[0] + "\0\0\0\0" + brands.dropFirst().joined()
        return Data([0, 0, 0, UInt8(8 + box.utf8.count)]) + bytes("ftyp" + box)
    }

    /// Upstream: testImageFormat
    @Test func knowsTheFormatsOfFixtures() throws {
        let grid = PixelGrid.quadrants(width: 4, height: 4)
        #expect(PNGFixture.data(grid).kf.imageFormat == .PNG)
        #expect(GIFFixture.data(grid).kf.imageFormat == .GIF)
        #expect(BMPFixture.data(grid).kf.imageFormat == .BMP)
        #expect(ICOFixture.data([grid]).kf.imageFormat == .ICO)
        #expect(try encoded(.gradient(8, 8), as: .JPEG).kf.imageFormat == .JPEG)
        let slice = (Data([1, 2, 3]) + PNGFixture.data(grid)).dropFirst(3)
        #expect(slice.kf.imageFormat == .PNG)
    }

    @Test func needsMoreThanEightBytes() {
        let signature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(signature.kf.imageFormat == .unknown)
        #expect((signature + [0]).kf.imageFormat == .PNG)
        #expect(Data([0xFF, 0xD8, 0xFF, 0, 0, 0, 0, 0, 0]).kf.imageFormat == .JPEG)
        #expect(Self.bytes("GIF------").kf.imageFormat == .GIF)
        #expect(Data(1...8).kf.imageFormat == .unknown)
        #expect(Data().kf.imageFormat == .unknown)
    }

    @Test(arguments: [
        (["avif"], ImageFormat.AVIF), (["avis", "msf1"], .AVIF), (["mif1", "avif"], .AVIF),
        (["mif1", "heic"], .HEIC), (["heix"], .HEIC), (["hevc"], .HEIC), (["msf1"], .HEIC),
        (["mif1"], .HEIC), (["isom", "mp42"], .unknown), (["qt  "], .unknown),
    ])
    func tellsHEIFFamiliesByTheirBrands(_ brands: [String], _ format: ImageFormat) {
        #expect(Self.isoMedia(brands).kf.imageFormat == format)
    }

    @Test(arguments: [
        [0xFF, 0x0A, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A],
    ])
    func knowsBothFormsOfJPEGXL(_ bytes: [UInt8]) {
        #expect(Data(bytes).kf.imageFormat == .JPEGXL)
    }

    @Test(arguments: [
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- <html> -->\n<svg>",
        "  \n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\" [ <!ENTITY a \"<b>\"> ]><svg >",
        "<svg:svg xmlns:svg='http://www.w3.org/2000/svg'></svg:svg>",
    ])
    func knowsSVGByItsRootElement(_ text: String) {
        #expect(Self.bytes(text).kf.imageFormat == .SVG)
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><body><svg></svg></body></html>", "<html><svg></svg></html>",
        "look: <svg></svg>", "<!-- <svg></svg> and no end", "<svgfoo></svgfoo>", "<?xml <svg>",
        "<!doctype HTML>\n<svg></svg>",
    ])
    func takesNothingElseForSVG(_ text: String) {
        #expect(Self.bytes(text).kf.imageFormat == .unknown)
    }

    @Test func searchesTextOnlySoFar() {
        let comment = "<!--" + String(repeating: "x", count: 70_000) + "--><svg></svg>"
        #expect(Self.bytes(comment).kf.imageFormat == .unknown)
    }

    @Test(arguments: [
        ("<!DOCTYPE html><p>", "an HTML page"), ("  <HTML><head>", "an HTML page"),
        ("{\"error\": 404}", "JSON"), ("[1, 2]         ", "JSON"), ("Not Found", "plain text"),
        ("<?xml version='1.0'?><rss></rss>", "XML whose root is <rss>"),
        ("P6\n2 2\n255\n", "a Netpbm image, which only ImageMagick reads, and that is not used"),
        (
            "8BPS\0\u{1}\0\0\0\0",
            "a Photoshop document, which only ImageMagick reads, and that is not used"
        ),
    ])
    func describesWhatIsNoImage(_ text: String, _ description: String) {
        #expect(ImageSniffer.describe(Self.bytes(text)) == description)
    }

    @Test(arguments: [
        (Data(), "no bytes"), (Data([0x1F, 0x8B, 8, 0]), "gzip data"),
        (isoMedia(["isom"]), "an ISO media file"), (Data([1, 2, 3]), "only 3 bytes"),
        (Data([0xFF, 0xD8, 0xFF, 0xE0]), "only 4 bytes"),
        (Data(repeating: 1, count: 20), "unrecognised binary data"),
    ])
    func describesBinaryData(_ data: Data, _ description: String) {
        #expect(ImageSniffer.describe(data) == description)
    }

    @Test func namesWhatItWasInTheError() {
        #expect(throws: ImageCodingError.unknownFormat(description: "an HTML page")) {
            try Image.decoding(Self.bytes("<html></html>"))
        }
        #expect(throws: ImageCodingError.emptyData) { try Image.decoding(Data()) }
    }

    @Test func findsJPEGMarkersOnlyInJPEG() throws {
        let baseline = try encoded(.gradient(16, 16), as: .JPEG).kf
        #expect(baseline.contains(jpeg: .SOF0) && baseline.contains(jpeg: .SOS))
        #expect(baseline.contains(jpeg: .EOI))
        #expect(!baseline.contains(jpeg: .SOF2))
        #expect(Data([0xFF, 0xD8, 0xFF, 0xD3, 0, 0, 0, 0, 0]).kf.contains(jpeg: .RSTn(3)))
        #expect(!Data([0, 0, 0xFF, 0xC0, 0, 0, 0, 0, 0]).kf.contains(jpeg: .SOF0))
    }
}
