import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonWork
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

    @Test(arguments: [
        ["--output-directory", "."], ["--output-directory", ".", "--force"],
        ["--output", "link.png"], ["--output", "a.png", "--force"],
    ])
    func aSourceIsReplacedByAccidentNever(options: [String]) async throws {
        let file = try program.folder.write(Pictures.png(), to: "a.png")
        try FileManager.default.createSymbolicLink(
            atPath: program.folder.file("link.png").path, withDestinationPath: "a.png")
        let outcome = try await program.run(
            ["load", "--json", "a.png", "--processor", "bw"] + options, code: 1)
        #expect(try outcome.row.error.code == 9002)
        #expect(try outcome.row.error.message?.contains("--in-place") == true)
        #expect(try Data(contentsOf: file) == Pictures.png())
    }

    @Test func inPlaceEverySourceIsReplaced() async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        try program.folder.write(BMPFixture.data(.quadrants(width: 6, height: 4)), to: "b.bmp")
        try program.folder.write(
            try Image.decoding(Pictures.png()).kf.data(format: .JPEG, options: .init()),
            to: "c d.jpeg")
        let outcome = try await program.run(
            "load", "--json", "a.png", "b.bmp", "c d.jpeg", "missing.png", "--in-place",
            "--processor", "resize:20x15", code: 1)
        let rows = try outcome.rows
        #expect(
            rows.map { $0["output"] as? String } == ["a.png", nil, "c d.jpeg", nil])
        #expect(rows.map { $0.error.code } == [nil, 9002, nil, 5003])
        #expect(rows[1].error.message?.contains("BMP is no format that can be written") == true)
        for (name, format) in [("a.png", ImageFormat.PNG), ("c d.jpeg", .JPEG)] {
            let written = try image(name)
            #expect(written.format == format && written.image.pixelSize.width == 20)
        }
        #expect(try names(in: ".").filter { !$0.hasPrefix(".") && $0 != "caches" }.count == 3)
    }

    /// A TIFF file with another page that looks like the only one of `page`, which is little-endian.
    private func twoPages(_ page: Data) throws -> Data {
        func number(_ offset: Int, _ length: Int) -> Int {
            page[offset..<offset + length].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let start = number(4, 4)
        let end = start + 2 + 12 * number(start, 2)
        try #require(page.starts(with: Array("II*\0".utf8)) && number(end, 4) == 0)
        var file = page
        if !file.count.isMultiple(of: 2) { file.append(0) }
        let second = UInt32(file.count)
        file.append(page[start..<end + 4])
        file.replaceSubrange(
            end..<end + 4, with: withUnsafeBytes(of: second.littleEndian) { Data($0) })
        return file
    }

    @Test(arguments: ["jxl", "tiff"])
    func inPlaceNoFrameAndNoPageIsLost(fileExtension: String) async throws {
        let name = "a.\(fileExtension)"
        let isTIFF = fileExtension == "tiff"
        let page = try Image.decoding(Pictures.png()).kf.data(format: .TIFF, options: .init())
        let source = try isTIFF ? twoPages(page) : SampleFile.data("animation.jxl")
        let file = try program.folder.write(source, to: name)
        let load = ["load", "--json", name, "--quality", "0.4"]
        let refused = try await program.run(load + ["--in-place"], code: 1)
        #expect(try refused.row.error.code == 9002)
        let (count, format) = isTIFF ? ("2 pages", "TIFF") : ("3 frames", "JPEGXL")
        #expect(
            try refused.row.error.message
                == "\(name) cannot be written: it has \(count), and only 1 would be written as "
                + "\(format); write another file with --output or --output-directory")
        #expect(try Data(contentsOf: file) == source)
        _ = try await program.run(load + ["--output", "b.\(fileExtension)"], code: 0)
        guard isTIFF else { return }
        try page.write(to: file)
        _ = try await program.run(load + ["--in-place"], code: 0)
    }

    @Test func inPlaceAnAnimationStaysOne() async throws {
        let file = try program.folder.write(Pictures.gif, to: "b.gif")
        _ = try await program.run(
            "load", "b.gif", "--in-place", "--processor", "resize:6x4", code: 0)
        #expect(try image("b.gif").image.frameCount == 2)
        let animation = try SampleFile.data("animation.jxl")
        let other = try program.folder.write(animation, to: "a.jxl")
        _ = try await program.run("load", "a.jxl", "--in-place", code: 0)
        #expect(try Data(contentsOf: other) == animation)
        #expect(try Data(contentsOf: file) != Pictures.gif)
    }

    @Test func aFileThatIsCutShortIsWrittenWithTheFramesThatAreThere() async throws {
        let frames: [GIFFixture.Frame] = [
            .init(.solid(.red, width: 12, height: 8)), .init(.solid(.blue, width: 12, height: 8)),
            .init(.noise(width: 12, height: 8)),
        ]
        for count in [2, 3] {
            // In the middle of the last one.
            let cut = GIFFixture.data(Array(frames.suffix(count)), loopCount: 0).dropLast(40)
            try #require(try !ImageInformation(of: cut).isComplete)
            try program.folder.write(cut, to: "cut.gif")
            _ = try await program.run("load", "cut.gif", "-o", "x.gif", "--force", code: 0)
            let written = try ImageInformation(of: Data(contentsOf: program.folder.file("x.gif")))
            #expect(written.isComplete)
            #expect(written.frameCount == count - 1)
        }
    }

    @Test func namesAreKept() async throws {
        for name in ["with space.png", "🐦 émoji.png", "$(x);'.png", ".dot.png"] {
            try program.folder.write(Pictures.png(), to: name)
        }
        _ = try await program.run(
            "load", "with space.png", "🐦 émoji.png", "$(x);'.png", ".dot.png", "--format", "webp",
            "--output-directory", "out", code: 0)
        #expect(
            try Set(names(in: "out"))
                == ["with space.webp", "🐦 émoji.webp", "$(x);'.webp", ".dot.webp"])
    }

    @Test func aNameThatIsNoTextIsKept() async throws {
        let file = try program.folder.write(Pictures.png(), to: "plain.png")
        let latin = try #require(FilePath(file)).folder.appending(Array("caf".utf8) + [0xE9])
        try #require(latin.withCString { latin in link(file.path, latin) } == 0)
        let outcome = try await program.run(
            ["load", "--json", "--output-directory", "out"],
            script: #"exec "$0" "$@" "$(printf 'caf\351')""#, code: 0)
        let output = try #require(outcome.row["output"] as? String)
        #expect(output.hasSuffix("/out/caf%E9.png"))
        let written = try #require(URL(string: output).flatMap { FilePath($0) })
        #expect(try Image.decoding(written.read()).pixelSize.width == 40)
    }

    @Test func aTemplateMakesTheNames() async throws {
        _ = try await program.run(
            "load", url("a.png"), url("b.gif"), "--output-directory", "out",
            "--name", "{name}-400.{ext}", code: 0)
        _ = try await program.run(
            "load", url("a.png"), "--output-directory", "out", "--name", "{name} small.webp",
            code: 0)
        #expect(try names(in: "out") == ["a small.webp", "a-400.png", "b-400.gif"])
        #expect(try image("out/a small.webp").format == .WebP)
    }

    @Test func filesOfOneNameKeepTheirFolders() async throws {
        for path in ["in/one/a.png", "in/two/a.png", "in/two/b.png"] {
            try program.folder.write(Pictures.png(), to: path)
        }
        let outcome = try await program.run(
            "load", "--json", "in/one/a.png", "in/two/a.png", "in/two/b.png",
            "--output-directory", "out", "--format", "webp", code: 0)
        #expect(
            try outcome.rows.map { $0["output"] as? String }
                == ["out/one/a.webp", "out/two/a.webp", "out/b.webp"])
        #expect(try names(in: "out/one") == ["a.webp"])
    }

    @Test func anExistingFileIsNotReplacedWithoutAWord() async throws {
        let former = Data("former".utf8)
        let file = try program.folder.write(former, to: "out/a.webp")
        for options in [
            ["--output", "out/a.webp"], ["--output-directory", "out", "--format", "webp"],
        ] {
            let load = ["load", "--json", url("a.png")] + options
            let refused = try await program.run(load, code: 1)
            #expect(
                try refused.row.error.message
                    == "out/a.webp cannot be written: it exists; --force replaces it, "
                    + "--no-clobber skips it")
            let left = try await program.run(load + ["--no-clobber"], code: 0)
            try left.row.expect([
                "source": url("a.png"), "status": "skipped", "output": "out/a.webp",
            ])
            // Nothing is loaded for that.
            #expect(origin.requestCount == 0)
        }
        #expect(try Data(contentsOf: file) == former)
        let late = try await program.run(
            "load", url("a.png"), "--output-directory", "out", "--name", "{name}.{ext}", code: 0)
        #expect(late.output.contains("→ out/a.png"))
        let again = try await program.run(
            "load", url("a.png"), "--output-directory", "out", "--no-clobber", code: 0)
        #expect(again.output.contains("out/a.png exists"))
        #expect(again.output.contains("0 images, 1 skipped"))
        _ = try await program.run("load", url("a.png"), "-o", "out/a.webp", "--force", code: 0)
        #expect(try image("out/a.webp").format == .WebP)
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
                ["load", url("photo.jpg"), "--output", "out.jpg", "--force"] + options, code: 0)
            let data = try Data(contentsOf: program.folder.file("out.jpg"))
            #expect((data.firstRange(of: name) != nil) == !options.isEmpty)
        }
    }

    @Test func withoutLossEveryPixelIsKept() async throws {
        let noise = PNGFixture.data(.noise(width: 64, height: 48))
        origin.route("/noise.png", .png(noise))
        func colors(_ image: Image) throws -> [Color] {
            let bitmap = try image.bitmap()
            return (0..<48).flatMap { y in (0..<64).map { x in bitmap[x, y] } }
        }
        let original = try colors(Image.decoding(noise))
        for format in ["webp", "jxl"] {
            for (options, isEqual) in [(["--lossless"], true), ([], false)] {
                _ = try await program.run(
                    ["load", url("noise.png"), "-o", "x.\(format)", "--force"] + options, code: 0)
                let written = try colors(image("x.\(format)").image)
                #expect((written == original) == isEqual, "\(format) \(options)")
            }
        }
        let jpeg = try Image.decoding(noise).kf.data(format: .JPEG, options: .init())
        origin.route("/noise.jpg", .ok(jpeg))
        let outcome = try await program.run(
            "load", "--json", url("noise.jpg"), "--lossless", "--output-directory", "out", code: 1)
        #expect(try outcome.row.error.code == 9001)
        #expect(try outcome.row.error.message?.hasPrefix("--lossless: JPEG loses") == true)
    }

    @Test func qualityDecidesAboutSize() async throws {
        origin.route("/noise.png", .png(PNGFixture.data(.noise(width: 64, height: 64))))
        var sizes: [Int] = []
        for quality in ["0", "0.5", "1"] {
            _ = try await program.run(
                "load", url("noise.png"), "--output", "x.jpg", "--force", "--quality", quality)
            sizes.append(try Data(contentsOf: program.folder.file("x.jpg")).count)
        }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }

    /// A picture whose files are of very different sizes by their qualities.
    private func routeDetails() {
        origin.route("/details.png", .png(PNGFixture.data(.noise(width: 160, height: 120))))
    }

    private func size(_ path: String) throws -> Int {
        try Data(contentsOf: program.folder.file(path)).count
    }

    @Test(arguments: [("jpg", "0.75"), ("webp", "0.76"), ("jxl", "0.8")])
    func withoutAQualityFormatsLookAlike(fileExtension: String, quality: String) async throws {
        routeDetails()
        _ = try await program.run("load", url("details.png"), "-o", "a.\(fileExtension)", code: 0)
        _ = try await program.run(
            "load", url("details.png"), "-o", "b.\(fileExtension)", "--quality", quality, code: 0)
        #expect(
            try Data(contentsOf: program.folder.file("a.\(fileExtension)"))
                == Data(contentsOf: program.folder.file("b.\(fileExtension)")))
    }

    @Test(arguments: ["jpg", "webp"])
    func theQualityForANumberOfBytesIsFoundAndTold(fileExtension: String) async throws {
        routeDetails()
        let (middle, found) = ("middle.\(fileExtension)", "found.\(fileExtension)")
        _ = try await program.run(
            "load", url("details.png"), "-o", middle, "--quality", "0.6", code: 0)
        let most = try size(middle)
        let row = try await program.run(
            "load", "--json", url("details.png"), "-o", found, "--max-bytes", "\(most)", code: 0
        ).row
        let (bytes, quality) = (row["outputBytes"] as? Int, row["quality"] as? Double)
        #expect(try bytes == size(found) && size(found) <= most)
        #expect(try #require(quality) > 0.4 && #require(quality) <= 0.61)
        #expect(try #require(row["ssim"] as? Double) < 1)
        let text = try await program.run(
            "load", url("details.png"), "-o", found, "--max-bytes", "\(most)", "--force", code: 0)
        #expect(text.output.contains("→ \(found) (quality \(try #require(quality)), "))
        #expect(text.output.contains(", SSIM 0."))
    }

    @Test func aFileThatIsSmallEnoughIsLeftAsItIs() async throws {
        let picture = try Image.decoding(PNGFixture.data(.noise(width: 160, height: 120)))
        func jpeg(_ metadata: ImageMetadata?) throws -> Data {
            try picture.kf.data(
                format: .JPEG, options: ImageEncodingOptions(quality: 0.3, metadata: metadata))
        }
        let small = try jpeg(nil)
        let file = try program.folder.write(small, to: "a.jpg")
        for output in [["--in-place"], ["-o", "b.jpg"]] {
            let row = try await program.run(
                ["load", "--json", "a.jpg", "--max-bytes", "\(small.count)"] + output, code: 0
            ).row
            #expect(row["quality"] == nil && row["output"] != nil)
        }
        #expect(try Data(contentsOf: file) == small)
        #expect(try Data(contentsOf: program.folder.file("b.jpg")) == small)
        // What is asked for besides is done.
        let described = try jpeg(
            ImageMetadata(xmp: Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'>me</x:xmpmeta>".utf8)))
        try program.folder.write(described, to: "c.jpg")
        for (source, options) in [("c.jpg", []), ("a.jpg", ["--processor", "bw"])] {
            let row = try await program.run(
                ["load", "--json", source, "-o", "d.jpg", "--max-bytes", "200k", "--force"]
                    + options, code: 0
            ).row
            #expect(row["quality"] != nil)
            let written = try Data(contentsOf: program.folder.file("d.jpg"))
            #expect(try ImageMetadata(reading: written) == ImageMetadata())
        }
    }

    @Test func theQualityForASimilarityIsFound() async throws {
        routeDetails()
        var sizes: [Int] = []
        for least in [0.7, 0.85] {
            let row = try await program.run(
                "load", "--json", url("details.png"), "-o", "\(least).webp", "--target-ssim",
                "\(least)", code: 0
            ).row
            #expect(try #require(row["ssim"] as? Double) >= least - 0.0001)
            sizes.append(try #require(row["outputBytes"] as? Int))
        }
        #expect(sizes[0] <= sizes[1])
    }

    @Test func aTargetThatCannotBeReachedIsAFailureAndWritesNothing() async throws {
        routeDetails()
        let outcome = try await program.run(
            "load", "--json", url("details.png"), "-o", "x.jpg", "--max-bytes", "100", code: 1)
        #expect(try outcome.row.error.code == 9001)
        let message = try #require(try outcome.row.error.message)
        #expect(message.contains("at quality 0.3 it has") && message.contains("more than 100"))
        #expect(try !names(in: ".").contains("x.jpg"))
        let source = try await program.run(
            "load", "--json", url("details.png"), "--output-directory", "out", "--max-bytes", "9k",
            code: 1)
        #expect(try source.row.error.message?.contains("PNG has no quality") == true)
    }
}
