import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct OutputProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    private func image(_ path: String) throws -> (image: Image, format: ImageFormat) {
        let data = try Data(contentsOf: program.folder.file(path))
        return (try Image.decoding(data), data.kf.imageFormat)
    }

    @Test(arguments: [
        (["--output", "x.webp"], "x.webp", ImageFormat.WebP),
        (["--output", "x.JPG"], "x.JPG", .JPEG),
        (["--output", "x"], "x", .PNG),
        (["--output", "x.png", "--format", "jpeg"], "x.png", .JPEG),
        (["--output-directory", "new/folder", "--format", "tif"], "new/folder/a.tiff", .TIFF),
    ])
    func theFormatFollowsTheOptionThenTheNameThenTheSource(
        options: [String], path: String, format: ImageFormat
    ) async throws {
        let outcome = try await program.run(["load", "--json", url("a.png")] + options, code: 0)
        #expect(try outcome.rows.first?["output"] as? String == path)
        let written = try image(path)
        #expect(written.format == format)
        #expect(written.image.pixelSize == PixelSize(width: 40, height: 30))
    }

    @Test func whatCannotBeWrittenInItsFormatBecomesPNG() async throws {
        let grid = PixelGrid.quadrants(width: 6, height: 4)
        try program.folder.write(BMPFixture.data(grid), to: "a.bmp")
        _ = try await program.run("load", "a.bmp", "--output-directory", "out")
        #expect(try names(in: "out") == ["a.png"])
        #expect(try image("out/a.png").image.bitmap()[5, 0] == Color(red: 0, green: 1, blue: 0))
    }

    @Test func anAnimationStaysOne() async throws {
        _ = try await program.run("load", url("b.gif"), "--output", "b.webp")
        #expect(try image("b.webp").image.frameCount == 2)
        _ = try await program.run(
            "load", url("b.gif"), "--processor", "resize:6x4", "--output", "c.gif")
        let small = try image("c.gif").image
        #expect(small.frameCount == 2 && small.pixelSize == PixelSize(width: 6, height: 4))
    }

    @Test func sourcesOfOneNameDoNotCollide() async throws {
        let outcome = try await program.run(
            "load", "--json", url("a.png"), url("other/a.png"), url("a.png?size=2"),
            "--output-directory", "out", code: 0)
        #expect(try names(in: "out") == ["a-2.png", "a-3.png", "a.png"])
        #expect(try image("out/a.png").image.pixelSize.width == 40)
        #expect(try image("out/a-2.png").image.pixelSize.width == 50)
        #expect(
            try outcome.rows.map { $0["output"] as? String }
                == ["out/a.png", "out/a-2.png", "out/a-3.png"])
    }

    @Test func aNameFromTheNetworkIsNoPath() async throws {
        origin.route("/..%2F..%2Fescaped.png", .png(Pictures.png()))
        origin.route("/../../escaped.png", .png(Pictures.png()))
        _ = try await program.run(
            "load", "--json", url("/..%2F..%2Fescaped.png"), "--output-directory", "deep/out",
            code: 0)
        #expect(try names(in: "deep/out") == ["escaped.png"] && names(in: "deep") == ["out"])
    }

    @Test func aFolderOfOutputsDoesNotReplaceASource() async throws {
        let file = try program.folder.write(Pictures.png(), to: "a.png")
        let outcome = try await program.run(
            "load", "--json", "a.png", "--processor", "bw", "--output-directory", ".", code: 1)
        #expect(try outcome.row.error.code == 9002)
        #expect(try Data(contentsOf: file) == Pictures.png())
    }

    @Test func metadataIsWrittenOnlyWhenAskedFor() async throws {
        let xmp = "<x:xmpmeta xmlns:x='adobe:ns:meta/'>the-photographer</x:xmpmeta>"
        let bitmap = try Image.decoding(Pictures.png()).bitmap()
        let source = try Image(bitmap: bitmap).kf.data(
            format: .JPEG,
            options: ImageEncodingOptions(metadata: ImageMetadata(xmp: Data(xmp.utf8))))
        origin.route("/photo.jpg", .ok(source))
        let name = Data("the-photographer".utf8)
        #expect(source.firstRange(of: name) != nil)
        let processed = ["--keep-metadata", "--processor", "bw"]
        // Processed, it is loaded at first, then from the cache, which holds the processed image.
        for options in [[], ["--keep-metadata"], processed, processed] {
            _ = try await program.run(
                ["load", url("photo.jpg"), "--output", "out.jpg"] + options, code: 0)
            let data = try Data(contentsOf: program.folder.file("out.jpg"))
            #expect((data.firstRange(of: name) != nil) == !options.isEmpty)
        }
    }

    @Test func qualityDecidesAboutSize() async throws {
        origin.route("/noise.png", .png(PNGFixture.data(.noise(width: 64, height: 64))))
        var sizes: [Int] = []
        for quality in ["0", "0.5", "1"] {
            _ = try await program.run(
                "load", url("noise.png"), "--output", "x.jpg", "--quality", quality)
            sizes.append(try Data(contentsOf: program.folder.file("x.jpg")).count)
        }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }
}
