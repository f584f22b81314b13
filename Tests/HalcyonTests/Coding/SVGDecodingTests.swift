import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite(.enabled(if: ImageFormat.readable.contains(.SVG)))
struct SVGDecodingTests {
    private func svg(_ attributes: String, _ content: String = "") -> Data {
        Data("<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(content)</svg>".utf8)
    }

    /// Upstream: testSVGImageSize
    @Test(arguments: [
        ("width='30' height='20'", 30, 20), ("width='30' height='20' viewBox='0 0 3 2'", 30, 20),
        ("viewBox='0 0 24 12'", 512, 256),
        ("width='100%' height='100%' viewBox='0 0 10 40'", 128, 512),
    ])
    func hasItsOwnSizeOr512Pixels(_ attributes: String, _ width: Int, _ height: Int) throws {
        let image = try Image.decoding(svg(attributes, "<rect width='1000' height='1000'/>"))
        #expect(image.pixelSize == PixelSize(width: width, height: height))
        let bitmap = try image.bitmap()
        #expect(bitmap.size == image.pixelSize)
        #expect(bitmap.samples(width / 2, height / 2) == [0, 0, 0, 255])
    }

    /// As in a page; of what a picture holds, libvips cannot tell how large it is.
    @Test(arguments: [
        ("", 300, 150), ("width='100%' height='100%'", 300, 150), ("width='40'", 40, 150),
    ])
    func hasTheSizeOfPicturesInPagesWhereNoneIsStated(
        _ attributes: String, _ width: Int, _ height: Int
    ) throws {
        let png = PNGFixture.data(.solid(.green, width: 8, height: 8)).base64EncodedString()
        let picture =
            "<image width='8' height='8' href='data:image/png;base64,\(png)'/>"
        let image = try Image.decoding(svg(attributes, picture))
        #expect(image.pixelSize == PixelSize(width: width, height: height))
        #expect(try image.bitmap().samples(4, 4) == [0, 255, 0, 255])
        #expect(try image.bitmap().samples(20, 20)[3] == 0)
    }

    @Test func drawsColoursAndTransparency() throws {
        let bitmap = try decoded(
            svg("width='40' height='20'", "<rect width='20' height='20' fill='#3080c0'/>"))
        #expect(bitmap.samples(10, 10) == [0x30, 0x80, 0xC0, 255])
        #expect(bitmap.samples(30, 10)[3] == 0)
    }

    @Test func refusesHugeDrawingsByTheirHeader() {
        #expect(throws: ImageCodingError.self) {
            try Image.decoding(svg("width='60000' height='60000'"))
        }
    }

    @Test func loadsNoOtherFile() throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appendingPathComponent("red.png")
        try PNGFixture.data(.solid(.red, width: 8, height: 8)).write(to: file)
        let content = "<image width='8' height='8' href='\(file.absoluteString)'/>"
        let bitmap = try decoded(svg("width='8' height='8'", content))
        #expect(bitmap.samples(4, 4)[3] == 0)
    }

    @Test func reportsBrokenMarkup() {
        #expect(throws: ImageCodingError.self) {
            try Image.decoding(Data("<svg xmlns='http://www.w3.org/2000/svg'><rect".utf8)).bitmap()
        }
    }

    @Test func readsPDFOnlyWhenAllowed() throws {
        guard let file = Corpus.file("formats/TestImage.pdf") else { return }
        let data = try Data(contentsOf: file)
        #expect(
            throws: ImageCodingError.unsupported(.PDF, reason: "reading PDF was not allowed")
        ) { try Image.decoding(data) }
        #expect(try decoded(data, limits: DecodingLimits(allowsPDF: true)).size.width == 36)
    }
}
