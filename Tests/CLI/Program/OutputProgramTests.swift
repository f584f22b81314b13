import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20)))
struct OutputProgramTests {
    private let program: Program
    private let origin: OriginServer

    init() async throws {
        program = try Program()
        origin = try await OriginServer.start(files: [
            "/a.png": Pictures.png(), "/other/a.png": Pictures.png(width: 50, height: 50),
            "/b.gif": Pictures.gif,
        ])
    }

    private func url(_ path: String) -> String { origin.url(path).absoluteString }

    private func image(_ path: String) throws -> (image: Image, format: ImageFormat) {
        let data = try Data(contentsOf: program.folder.file(path))
        return (try Image.decoding(data), data.kf.imageFormat)
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.folder.file(folder).path)
            .sorted()
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
        let outcome = try await program.start(["load", "--json", url("a.png")] + options).outcome()
        #expect(outcome.exitCode == 0)
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
        #expect(small.frameCount == 2)
        #expect(small.pixelSize == PixelSize(width: 6, height: 4))
    }

    @Test func sourcesOfOneNameDoNotCollide() async throws {
        let outcome = try await program.run(
            "load", "--json", url("a.png"), url("other/a.png"), url("a.png?size=2"),
            "--output-directory", "out")
        #expect(outcome.exitCode == 0)
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
        let outcome = try await program.run(
            "load", "--json", url("/..%2F..%2Fescaped.png"), "--output-directory", "deep/out")
        #expect(outcome.exitCode == 0)
        #expect(try names(in: "deep/out") == ["escaped.png"])
        #expect(try names(in: "deep") == ["out"])
    }

    @Test func aFolderOfOutputsDoesNotReplaceASource() async throws {
        let file = try program.folder.write(Pictures.png(), to: "a.png")
        let outcome = try await program.run(
            "load", "--json", "a.png", "--processor", "bw", "--output-directory", ".")
        #expect(outcome.exitCode == 1)
        let error = try outcome.rows.first?["error"] as? [String: Any]
        #expect(error?["code"] as? Int == 9002)
        #expect(try Data(contentsOf: file) == Pictures.png())
    }

    @Test(arguments: ["none/a.png", "folder"])
    func anOutputThatCannotBeWrittenIsTheErrorOfItsSource(path: String) async throws {
        try FileManager.default.createDirectory(
            at: program.folder.file("folder"), withIntermediateDirectories: true)
        let outcome = try await program.run("load", "--json", url("a.png"), "--output", path)
        #expect(outcome.exitCode == 1)
        let error = try outcome.rows.first?["error"] as? [String: Any]
        #expect(error?["code"] as? Int == 9002)
        #expect((error?["message"] as? String)?.contains(path) == true)
        #expect(try names(in: "folder") == [])
    }

    @Test func metadataIsWrittenOnlyWhenAskedFor() async throws {
        let xmp = "<x:xmpmeta xmlns:x='adobe:ns:meta/'>the-photographer</x:xmpmeta>"
        let bitmap = try Image.decoding(Pictures.png()).bitmap()
        let source = try Image(bitmap: bitmap).kf.data(
            format: .JPEG,
            options: ImageEncodingOptions(metadata: ImageMetadata(xmp: Data(xmp.utf8))))
        origin.route("/photo.jpg", .ok(source))
        func output(_ options: String...) async throws -> Data {
            let arguments = ["load", url("photo.jpg"), "--output", "out.jpg"] + options
            let outcome = try await program.start(arguments).outcome()
            #expect(outcome.exitCode == 0)
            return try Data(contentsOf: program.folder.file("out.jpg"))
        }
        let name = Data("the-photographer".utf8)
        #expect(source.firstRange(of: name) != nil)
        #expect(try await output().firstRange(of: name) == nil)
        #expect(try await output("--keep-metadata").firstRange(of: name) != nil)
        let processed = ["--keep-metadata", "--processor", "bw"]
        for _ in 0..<2 {
            // Loaded at first, then from the cache, which holds the processed image.
            let data = try await output(processed[0], processed[1], processed[2])
            #expect(data.firstRange(of: name) != nil)
        }
    }

    @Test func qualityDecidesAboutSize() async throws {
        let noise = PixelGrid(width: 64, height: 64) { x, y in
            Pixel(gray: UInt8(truncatingIfNeeded: (x &* 7919 ^ y &* 104_729) &* 2_654_435))
        }
        origin.route("/noise.png", .png(PNGFixture.data(noise)))
        var sizes: [Int] = []
        for quality in ["0", "0.5", "1"] {
            _ = try await program.run(
                "load", url("noise.png"), "--output", "x.jpg", "--quality", quality)
            sizes.append(try Data(contentsOf: program.folder.file("x.jpg")).count)
        }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }
}
