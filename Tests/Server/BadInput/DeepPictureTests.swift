import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Sources of AVIF and HEIC that have more than others: bits, opacity; or less: one pixel.
@Suite struct DeepPictureTests {
    private let folder: TemporaryDirectory
    private let live: LiveServer

    init() async throws {
        let folder = try TemporaryDirectory()
        self.folder = folder
        live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
    }

    /// Orange, and blue through which half of what is behind shows.
    private static let left = Pixel(200, 120, 40)
    private static let right = Pixel(40, 80, 200, 128)
    private static let grid = PixelGrid(width: 64, height: 32) { x, _ in x < 32 ? left : right }

    /// What a URL makes of a source.
    private func picture(_ target: String) async throws -> Image {
        let answer = try await live.ask(target)
        try #require(answer.status == 200, "\(answer.text)")
        return try Image.decoding(answer.body)
    }

    @Test(arguments: [ImageFormat.AVIF, .HEIC].filter(ImageFormat.writable.contains))
    func tenBitsAndOpacityAreShown(format: ImageFormat) async throws {
        let deep = try Image.decoding(PNGFixture.data(Self.grid, as: .rgba16))
        let file = try deep.encoded(as: format, options: ImageEncodingOptions(quality: 0.95))
        let source = try Image.decoding(file)
        #expect(source.depth == .sixteen && source.hasAlpha)
        try folder.write(file, to: "a.heif")
        for (options, depth) in [
            ("w:32", Bitmap.Depth.eight), ("ph:1/w:32", .sixteen), ("ph:1", .sixteen),
        ] {
            let image = try await picture("/_/\(options)/plain/local:///a.heif@png")
            #expect(image.depth == depth && image.hasAlpha)
            let bitmap = try image.bitmap()
            let (width, row) = (bitmap.size.width, bitmap.size.height / 2)
            for (column, wanted) in [(width / 8, Self.left), (width * 7 / 8, Self.right)] {
                let colour = bitmap[column, row]
                let found = [colour.red, colour.green, colour.blue, colour.alpha].map { $0 * 255 }
                let pairs = zip(found, [wanted.red, wanted.green, wanted.blue, wanted.alpha])
                #expect(
                    pairs.allSatisfy { abs(Double($0) - Double($1)) < 12 }, "\(options) \(found)")
            }
        }
        let info = try await live.ask("/info/_/d:1/b:1/plain/local:///a.heif")
        #expect(
            info.text
                == "{\"bands\":4,\"hasAlpha\":true,\"height\":32,\"orientation\":1,\"width\":64}\n")
        // In its own format, with as many bits as that is told to have.
        for options in ["ph:0", "ph:1"] {
            let name = format == .AVIF ? "avif" : "heic"
            let image = try await picture("/_/\(options)/plain/local:///a.heif@\(name)")
            #expect(image.hasAlpha && image.depth == (options == "ph:1" ? .sixteen : .eight))
        }
        try await live.expectCalm(warnings: 0)
    }

    /// Written by libavif: one pixel of 10 bits, half transparent.
    private static let onePixel = """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAAGNbWV0YQAAAAAAAAAoaGRscgAAAAAAAAAA\
        cGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAsaWxvYwAAAABEAAACAAEAAAAB\
        AAABxQAAACEAAgAAAAEAAAG1AAAAEAAAAEJpaW5mAAAAAAACAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xv\
        cgAAAAAaaW5mZQIAAAAAAgAAYXYwMUFscGhhAAAAABppcmVmAAAAAAAAAA5hdXhsAAIAAQABAAAAw2lw\
        cnAAAACdaXBjbwAAABRpc3BlAAAAAAAAAAEAAAABAAAAEHBpeGkAAAAAAwoKCgAAAAxhdjFDgSBAAAAA\
        ABNjb2xybmNseAABAA0AAIAAAAAOcGl4aQAAAAABCgAAAAxhdjFDgQBcAAAAADhhdXhDAAAAAHVybjpt\
        cGVnOm1wZWdCOmNpY3A6c3lzdGVtczphdXhpbGlhcnk6YWxwaGEAAAAAHmlwbWEAAAAAAAAAAgABBAEC\
        gwQAAgQBBYYHAAAAOW1kYXQSAAoEGAAGNTIGEABOIc6AEgAKBzgABjAQ0AIyFBAAAEZnrRyLhgetjyJI\
        e/uVA7Bt
        """

    @Test func aSingleDeepPixelIsShown() async throws {
        try folder.write(try #require(Data(base64Encoded: Self.onePixel)), to: "a.avif")
        for target in [
            "/_/plain/local:///a.avif@png", "/_/rs:force:9:9:1/plain/local:///a.avif@png",
        ] {
            let bitmap = try await picture(target).bitmap()
            #expect(bitmap.size.width == (target.contains("9:9") ? 9 : 1))
            let colour = bitmap[0, 0]
            let found = [colour.red, colour.green, colour.blue, colour.alpha].map {
                Int(($0 * 255).rounded())
            }
            #expect(zip(found, [200, 100, 50, 128]).allSatisfy { abs($0 - $1) <= 1 }, "\(found)")
        }
        // None that small can be written as AVIF.
        let answer = try await live.ask("/_/plain/local:///a.avif@avif")
        #expect(answer.status == 200 && answer["Content-Type"] == "image/png")
        try await live.expectCalm(warnings: 0)
    }

    @Test(.enabled(if: ImageFormat.writable.contains(.HEIC)))
    func aFileThatClaimsToBeOnePixelIsOneOrRefused() async throws {
        let plain = try Image.decoding(PNGFixture.data(Self.grid, as: .rgb8))
        var file = try plain.encoded(as: .HEIC, options: ImageEncodingOptions())
        let size = try #require(file.firstRange(of: Data("ispe".utf8))?.upperBound)
        file.replaceSubrange(size + 4..<size + 12, with: [0, 0, 0, 1, 0, 0, 0, 1])
        try folder.write(file, to: "a.heic")
        let answer = try await live.ask("/_/plain/local:///a.heic@png")
        #expect([200, 422].contains(answer.status), "\(answer.text)")
        try await live.expectCalm()
    }

    @Test(
        arguments: ["avif", "heic"], ["rs:force:15:15", "rs:force:1:1", "rs:force:15:40", "w:15"])
    func whatIsTooSmallForAFormatIsWrittenInAnother(format: String, options: String) async throws {
        try folder.write(PNGFixture.data(Self.grid, as: .rgb8), to: "a.png")
        let written = try await live.ask("/_/\(options)/plain/local:///a.png@\(format)")
        guard ImageFormat.writable.contains(format == "avif" ? .AVIF : .HEIC) else {
            #expect(written.status == 422)
            return
        }
        #expect(written.status == 200 && written["Content-Type"] == "image/jpeg")
        let size = try written.pixelSize
        #expect(min(size.width, size.height) < 16)
        try await live.expectCalm(warnings: 0)
    }
}
