import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

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
        ("viewBox='0 0 20 10' style='width: 120px; height: 60px !important'", 120, 60),
        ("viewBox='0 0 20 10' style='width:100%;height:auto'", 512, 256),
        ("viewBox='0 0 2e6 1e6'", 512, 256), ("viewBox='0 0 1024000 512000'", 512, 256),
        ("viewBox='0 0 .02 .01'", 512, 256), ("viewBox='0 0 1 .4'", 512, 205),
    ])
    func hasItsOwnSizeOr512Pixels(_ attributes: String, _ width: Int, _ height: Int) throws {
        let image = try Image.decoding(svg(attributes, "<rect width='100%' height='100%'/>"))
        let bitmap = try image.bitmap()
        #expect([image.pixelSize, bitmap.size] == [PixelSize(width, height), image.pixelSize])
        #expect(bitmap.samples(width / 2, height / 2) == [0, 0, 0, 255])
    }

    /// As in a page: what a drawing happens to paint is not its size, and a length in per cent is none. (Of a picture
    /// within one, libvips cannot tell how large it is.)
    @Test(arguments: [
        ("", 300, 150), ("width='100%'", 300, 150), ("width='50%' height='50%'", 300, 150),
        ("width='auto' height='auto'", 300, 150), ("width='400'", 400, 150),
        ("height='90'", 300, 90), ("width='400' height='50%'", 400, 150),
        ("width='40px'", 40, 150), ("width='nonsense' height='20'", 300, 20),
        ("viewBox='none'", 300, 150), ("style='width:40px;height:20px'", 40, 20),
        ("viewBox='0 0 -5 10'", 300, 150), ("width='0x28' height='20'", 300, 20),
        ("style='width:40px'", 40, 150),
    ])
    func aSizeThatIsNotStatedIsThatOfPicturesInPages(
        _ attributes: String, _ width: Int, _ height: Int
    ) throws {
        let png = PNGFixture.solid(.red, width: 8, height: 8).base64EncodedString()
        for (content, opacity) in [
            ("<rect width='100%' height='100%' fill='red'/>", 255),
            ("<rect width='20' height='10' fill='red'/>", 0),
            ("<image width='8' height='8' href='data:image/png;base64,\(png)'/>", 0),
        ] as [(String, UInt8)] {
            let file = svg(attributes, content)
            let bitmap = try decoded(file)
            #expect(bitmap.size == PixelSize(width, height))
            #expect(try ImageInformation(of: file).size == bitmap.size)
            #expect(bitmap.samples(4, 4) == [255, 0, 0, 255])
            #expect(bitmap.samples(width - 2, height - 2)[3] == opacity)
        }
    }

    /// By specificity and order, as in a page; a relative unit is that of the root's font.
    @Test(arguments: [
        ("", "svg{width:40px;height:20px}", 40, 20),
        ("class='j k'", ".k{width:40px;height:20px}", 40, 20),
        ("viewBox='0 0 24 24'", "svg{width:40px;height:20px}", 40, 20),
        ("viewBox='0 0 24 24'", ":root{width:40px}", 40, 40),
        ("viewBox='0 0 24 24' width='48' height='48'", "svg{width:100%;height:auto}", 512, 512),
        ("viewBox='0 0 2 1' width='48' height='24' style='width:100%;height:100%'", "", 512, 256),
        (
            "width='9' height='9' class='k' id='i'",
            "#i{width:40px}.k{width:5px}svg.k{height:20px}svg{height:4px}:root{width:3px}", 40, 20
        ),
        ("width='9'", "svg{width:40px!important;height:20px}svg{width:5px}", 40, 20),
        ("style='width:40px;height:20px'", "svg{width:5px;height:5px}", 40, 20),
        ("width='40' height='20'", "g svg, svg.b, #c{width:5px}svg{height:nonsense}", 40, 20),
        ("width='40'", "@media print{svg{width:5px;height:5px}}", 40, 150),
        ("width='2rem' height='1em'", "", 32, 16),
        ("viewBox='0 0 2 1' width='1em' style='font-size:40px'", "", 40, 20),
    ])
    func styleSheetsGiveADrawingItsSize(
        _ attributes: String, _ sheet: String, _ width: Int, _ height: Int
    ) throws {
        let content = "<style>\(sheet)</style><rect width='100%' height='100%' fill='lime'/>"
        let file = svg(attributes, content)
        let bitmap = try decoded(file)
        #expect(bitmap.size == PixelSize(width, height))
        #expect(try ImageInformation(of: file).size == bitmap.size)
        #expect(bitmap.samples(width / 2, height / 2) == [0, 255, 0, 255])
    }

    @Test(arguments: [
        ("style='background:#0a0'", "<g/>"),
        ("style='background:#0A0;background-color:light-dark(#0a0, var(--dark, red))'", "<g/>"),
        ("style='background:red'", "<style>svg{background-color:rgb(0 170 0)!important}</style>"),
        ("viewBox='5 5 10 10' style='background: #0a0'", "<g/>"),
        ("style='background:#0a0'", "<style>rect{fill:red;width:1px;stroke:red}</style>"),
        ("style='background:#0a0'", ""),
    ])
    func theBackgroundOfADrawingIsPainted(_ attributes: String, _ content: String) throws {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20' \(attributes)"
        let file = Data((text + (content.isEmpty ? "/>" : ">\(content)</svg>")).utf8)
        let bitmap = try decoded(file)
        for (x, y) in [(0, 0), (39, 19), (20, 10)] {
            #expect(bitmap.samples(x, y) == [0, 170, 0, 255])
        }
    }

    @Test(arguments: [
        ("background:linear-gradient(red,blue)", "this background"),
        ("background:oklch(.5 .1 20)", "oklch()"), ("background:url(#a)", "this background"),
    ])
    func aBackgroundThatIsNotPaintedIsNamed(_ style: String, _ name: String) {
        let refusal = ImageCodingError.unsupported(
            .SVG, reason: "the installed librsvg does not draw \(name)")
        #expect(throws: refusal) { try decoded(svg("width='40' height='20' style='\(style)'")) }
    }

    @Test func compressedDrawingsAreDrawn() throws {
        let plain = svg("width='40' height='20'", "<rect width='20' height='20' fill='lime'/>")
        let file = Data(StoredDeflate.gzip([UInt8](plain)))
        #expect(file.kf.imageFormat == .SVG)
        #expect(try decoded(file).greatestDifference(from: decoded(plain)) == 0)
        #expect(try ImageInformation(of: file).size == PixelSize(40, 20))
        let members = [plain.prefix(50), plain.dropFirst(50)].map {
            StoredDeflate.gzip([UInt8]($0))
        }
        #expect(try CompressedDrawing.inflated(Data(members.joined() + [0, 0])) == plain)
        let other = Data(StoredDeflate.gzip(Array("<html><svg></svg></html>".utf8)))
        #expect(other.kf.imageFormat == .unknown)
        let cut = ImageCodingError.corrupt(.SVG, reason: "its compressed text is cut short")
        #expect(throws: cut) { try decoded(file.prefix(file.count / 2)) }
        var damaged = file
        damaged[file.count - 6] ^= 1
        #expect(throws: ImageCodingError.self) { try decoded(damaged) }
    }

    @Test func drawingsThatGrowTooMuchAreRefused() throws {
        let plain = svg("width='40' height='20'", String(repeating: " ", count: 200_000))
        let file = Data(StoredDeflate.gzip([UInt8](plain)))
        #expect(try CompressedDrawing.inflated(file) == plain)
        #expect(throws: XMLScanner.Refusal.tooComplex("its text takes more than 150000 bytes")) {
            try CompressedDrawing.inflated(file, upTo: 150_000)
        }
    }

    @Test(
        arguments: [
            String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
        ], [true, false])
    func drawingsInWideCharactersAreDrawn(_ encoding: String.Encoding, _ isMarked: Bool) throws {
        let text = """
            <?xml version='1.0' encoding='UTF-16'?><svg xmlns='http://www.w3.org/2000/svg' \
            width='40' height='20'><title>Grün \u{1F426}</title>\
            <rect width='20' height='20' fill='lime'/></svg>
            """
        let file = try #require(((isMarked ? "\u{FEFF}" : "") + text).data(using: encoding))
        #expect(file.kf.imageFormat == .SVG)
        #expect(try ImageInformation(of: file).size == PixelSize(40, 20))
        for data in [file, Data(StoredDeflate.gzip([UInt8](file)))] {
            #expect(try decoded(data).samples(10, 10) == [0, 255, 0, 255])
        }
    }

    @Test func anEncodingThatIsNotReadIsNamed() {
        let text = "<?xml version='1.0' encoding='x-none'?><svg width='9' height='9'/>"
        let error = SVGDocumentTests.error(Data(text.utf8))
        #expect(error?.description.contains("x-none") == true)
        let other: [UInt8] = [0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40, 0xA5, 0x85, 0x99, 0xA2]
        #expect(SVGDocumentTests.error(Data(other))?.description.contains("EBCDIC") == true)
    }

    /// A librsvg that does not know them shows something else, or nothing.
    @Test(arguments: [
        ("hwb()", "<rect width='60' height='40' fill='hwb(120 0% 33%)'/>"),
        ("oklch()", "<rect width='60' height='40' style='fill:oklch(.64 .22 142)'/>"),
        (
            "color()",
            "<style>.a{fill:color(display-p3 0 .6 0)}</style><rect class='a' width='60' "
                + "height='40'/>"
        ),
        (
            "color-mix()",
            "<linearGradient id='g'><stop stop-color='color-mix(in srgb, lime, green)'/>"
                + "</linearGradient><rect width='60' height='40' fill='url(#g)'/>"
        ),
        ("relative colours", "<rect width='60' height='40' fill='rgb(from #0a0 r g b)'/>"),
        ("the system colour canvas", "<rect width='60' height='40' fill='Canvas'/>"),
        ("@media", "<style>@media screen{rect{fill:#0a0}}</style><rect width='60' height='40'/>"),
        ("@layer", "<style>@layer a{rect{fill:#0a0}}</style><rect width='60' height='40'/>"),
        (
            "nested rules of CSS",
            "<style>g{rect{fill:#0a0}}</style><g><rect width='60' height='40'/></g>"
        ),
        (":is()", "<style>:is(rect,g){fill:#0a0}</style><rect width='60' height='40'/>"),
        (
            "translate",
            "<rect x='-60' width='60' height='40' fill='#0a0' style='translate:60px 0'/>"
        ),
        (
            "rotate",
            "<style>rect{rotate:.5turn}</style>"
                + "<rect x='-60' y='-40' width='60' height='40' fill='#0a0'/>"
        ),
        ("scale", "<rect width='30' height='20' fill='#0a0' style='scale:3'/>"),
        (
            "% in a transform of CSS",
            "<rect x='-60' width='60' height='40' fill='#0a0' style='transform:translate(100%,0)'/>"
        ),
        (
            "mask-image",
            "<rect width='60' height='40' fill='#0a0' "
                + "style='mask-image:linear-gradient(#000,#000)'/>"
        ),
        (
            "shapes as a clip-path",
            "<rect width='60' height='40' fill='#0a0' clip-path='circle(25px)'/>"
        ),
        ("the unit rem", "<path d='M0 20H60' stroke='#0a0' style='stroke-width:2rem'/>"),
        ("min()", "<rect height='40' fill='#0a0' style='width:min(60px,99px)'/>"),
        (
            "the place of <use> in CSS",
            "<defs><rect id='a' x='-60' width='60' height='40' fill='#0a0'/></defs>"
                + "<use href='#a' style='x:60px'/>"
        ),
        (
            "<feDropShadow>",
            "<filter id='s'><feDropShadow dx='3' dy='3'/></filter>"
                + "<rect x='10' y='10' width='40' height='20' fill='#0a0' filter='url(#s)'/>"
        ),
        (
            "transform-box",
            "<rect x='10' y='18' width='40' height='4' fill='#0a0' style='transform:rotate(90deg);"
                + "transform-box:fill-box;transform-origin:center'/>"
        ),
        (
            "transform-box",
            "<style>.a{transform-box:fill-box;transform-origin:50% 50%}</style><rect class='a' "
                + "x='10' y='18' width='40' height='4' fill='#0a0' transform='rotate(90)'/>"
        ),
        (
            "transform-origin",
            "<rect x='10' y='18' width='40' height='4' fill='#0a0' transform='rotate(90)' "
                + "transform-origin='30 20'/>"
        ),
        ("var()", "<g fill='none'><rect width='60' height='40' fill='var(--a, #0a0)'/></g>"),
        (
            "var()",
            "<style>:root{--a:#0a0}rect{fill:var(--a)}</style><rect width='60' height='40'/>"
        ),
        ("var()", "<rect width='60' height='40' style='--a:#0a0;fill: var(--a)'/>"),
        ("var()", "<rect style='--a:60px' width='var(--a)' height='40' fill='#0a0'/>"),
        ("calc()", "<rect style='width: calc(50px + 10px)' height='40' fill='#0a0'/>"),
        (
            "d as a property",
            "<style>path{d:path('M0 0H60V40H0z')}</style><path fill='#0a0'/>"
        ),
        (
            "<textPath>",
            "<defs><path id='p' d='M0 39H60'/></defs><text font-size='60' fill='#0a0'>"
                + "<textPath href='#p'>█</textPath></text>"
        ),
        (
            "<foreignObject>",
            "<foreignObject width='60' height='40'><p xmlns='http://www.w3.org/1999/xhtml' "
                + "style='background:#0a0'>█</p></foreignObject>"
        ),
    ])
    func whatIsNotDrawnIsNamed(_ name: String, _ content: String) throws {
        let file = svg("width='60' height='40'", content)
        do {
            // A newer one draws it.
            let found = try decoded(file).samples(30, 20)
            #expect(found[1] > 100 && found[3] > 200, "\(found)")
            _ = try ImageInformation(of: file)
        } catch {
            let expected = ImageCodingError.unsupported(
                .SVG, reason: "the installed librsvg does not draw \(name)")
            #expect(error as? ImageCodingError == expected)
            #expect(throws: expected) { try ImageInformation(of: file) }
            #expect(expected.description.contains(name))
        }
    }

    @Test(arguments: [
        "R transform='translate(3 4)' transform-origin='9 9'/>",
        "R transform='scale(2)' transform-origin='0 0'/>", "R style='transform-box:fill-box'/>",
        "<style>.b{transform-origin:center}</style><g transform='scale(2)'>R class='b'/></g>",
        "R style='--a:red'/>",
        "R style='margin:calc(1px);shape-outside:path(&quot;M0 0H60V40H0z&quot;)'/>",
        "<switch><foreignObject requiredExtensions='x'/>R/></switch>",
        "R/><foreignObject/>", "<filter id='f'><feDropShadow/></filter>R/>",
        "<g display='none'><text><textPath>a</textPath></text></g>R/>",
        "R/><g style='display: none'><rect width='60' height='40' fill='oklch(1 0 0)'/></g>",
        "<switch><g systemLanguage='xx'><rect fill='hwb(0 0% 0%)'/></g>R/></switch>",
        "<defs><g filter='invert(1)'><rect fill='lab(0 0 0)'/></g></defs>R/>",
        "R style='fill:light-dark(#0a0, var(--dark, red))'/>",
        "R style='fill:#0a0;fill:color(display-p3 0 .6 0)'/>",
        "<style>rect{fill:#0a0;fill:oklch(.64 .22 142)}</style>R/>",
        "<style>@media (prefers-color-scheme: dark){rect{fill:red}}</style>R/>",
        "<style media='print'>rect{fill:red}</style>R/>",
        "<style type='text/less'>rect{fill:red}</style>R/>",
        "<style>@supports (color: lab(0 0 0)){rect{fill:lab(0 0 0)}}</style>R/>",
        "<style>@media screen{rect{animation:a 1s}}@keyframes a{to{fill:red}}</style>R/>",
        "<style>rect:hover{fill:lab(0 0 0)}.b{fill:hwb(0 0% 0%)}</style>R/>",
        "R style='translate:none;rotate:0deg;scale:1;mask-image:none;vector-effect:none'/>",
        "R vector-effect='non-scaling-stroke'/>",
        "R/><foreignObject><p xmlns='http://www.w3.org/1999/xhtml'>a</p></foreignObject>",
        "R/><defs><path id='p' d='M0 9H60'/></defs><text><textPath href='#p'>a</textPath></text>",
        "R style='transform:translate(0px) rotate(0deg)' rotate='5'/>",
    ])
    func whatMakesNoDifferenceIsNoReasonToRefuse(_ content: String) throws {
        let rectangle = "<rect width='60' height='40' fill='#0a0'"
        let file = svg("width='60' height='40'", content.replacing("R", with: rectangle))
        #expect(try decoded(file).samples(30, 20) == [0, 170, 0, 255])
    }

    /// A tile that is larger than any picture has nothing of it seen but what it fills.
    @Test(arguments: [
        "<pattern id='p' width='1e9' height='1e9' patternUnits='userSpaceOnUse'>",
        "<pattern id='p' width='1e9px' height='60' patternUnits='userSpaceOnUse'>",
        "<pattern id='p' width='100' height='1e12' patternUnits='userSpaceOnUse'>",
        "<pattern id='p' x='-5' width='40000' height='40000' patternUnits='userSpaceOnUse'>",
        "<pattern id='q' patternUnits='userSpaceOnUse'/>"
            + "<pattern id='p' href='#q' width='1e9' height='1e9'>",
        "<pattern id='p' width='1e9' height='1e9'>",
    ])
    func patternsOfAnySizeAreDrawn(_ pattern: String) throws {
        let content =
            "\(pattern)<rect width='10' height='10' fill='#0a0'/></pattern>"
            + "<rect width='60' height='40' fill='url(#p)'/>"
        let bitmap = try decoded(svg("width='60' height='40'", content))
        #expect(bitmap.samples(3, 3) == [0, 170, 0, 255])
        #expect(bitmap.samples(30, 20)[3] == 0)
    }

    @Test(arguments: [
        ("width='60000' height='60000'", 60000, 60000),
        ("width='1e9' height='1e9'", 1_000_000_000, 1_000_000_000),
        ("width='1e9' height='1e9' viewBox='0 0 1 1'", 1_000_000_000, 1_000_000_000),
        ("style='width:2e8px;height:10px'", 200_000_000, 10),
        ("width='2e8'", 200_000_000, 150), ("width='1e400' height='10'", 1 << 31, 10),
        ("height='1' viewBox='0 0 2e8 1'", 200_000_000, 1),
    ])
    func refusesHugeDrawingsByTheirHeader(_ attributes: String, _ width: Int, _ height: Int) {
        let refusal = ImageCodingError.tooManyPixels(
            PixelSize(width, height), limit: DecodingLimits.default.maximumPixelCount ?? 0)
        #expect(throws: refusal) { try Image.decoding(svg(attributes)) }
    }

    @Test func aSideThatNoPictureCanHaveIsRefused() {
        let refusal = ImageCodingError.tooManyPixels(PixelSize(20_000_000, 1), limit: 10_000_000)
        #expect(throws: refusal) { try Image.decoding(svg("width='2e7' height='1'")) }
        #expect(throws: refusal) { try ImageInformation(of: svg("width='2e7' height='1'")) }
    }

    /// A size that is not worked out is not another one.
    @Test(arguments: [
        ("style='width:calc(10px + 5px);height:10px'", "", "calc()"),
        ("width='calc(10px)' height='10'", "", "calc()"),
        ("", "svg{width:min(10px,20px)}", "min()"), ("", ":root{height:max(1px,2px)}", "max()"),
        ("viewBox='0 0 2 1'", "svg{height: clamp(1px, 5px, 9px)!important}", "clamp()"),
        ("style='--a:9px;width:var(--a);height:10px'", "", "var()"),
        ("style='width:50vw;height:10px'", "", "vw"), ("width='10' height='5dvmin'", "", "dvmin"),
        ("width='10'", "svg{height:2lh}", "lh"),
    ])
    func aSizeThatIsNotReadIsNamed(_ attributes: String, _ sheet: String, _ name: String) {
        let file = svg(attributes, "<style>\(sheet)</style><rect width='9' height='9'/>")
        let error = #expect(throws: ImageCodingError.self) { try Image.decoding(file) }
        guard case .unsupported(.SVG, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(name))
    }

    @Test func aSizeThatDoesNotCountIsNoReasonToRefuse() throws {
        let sheet = "svg{width:calc(1px + 1px)}@media print{svg{width:9vw!important}}"
        let file = svg("style='width:40px;height:20px'", "<style>\(sheet)</style>")
        #expect(try decoded(file).size == PixelSize(40, 20))
    }

    @Test func loadsNoOtherFile() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            PNGFixture.data(.solid(.red, width: 8, height: 8)), to: "red.png")
        let content = "<image width='8' height='8' href='\(file.absoluteString)'/>"
        let bitmap = try decoded(svg("width='8' height='8'", content))
        #expect(bitmap.samples(4, 4)[3] == 0)
    }

    @Test func readsPDFOnlyWhenAllowed() throws {
        guard let file = Corpus.file("formats/TestImage.pdf") else { return }
        let data = try Data(contentsOf: file)
        let refusal = ImageCodingError.unsupported(.PDF, reason: "reading PDF was not allowed")
        #expect(throws: refusal) { try Image.decoding(data) }
        #expect(try decoded(data, limits: DecodingLimits(allowsPDF: true)).size.width == 36)
    }
}
