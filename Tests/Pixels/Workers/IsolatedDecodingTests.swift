import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite(.timeLimit(.minutes(5))) struct IsolatedDecodingTests {
    /// Files of all formats that workers read, as far as this machine writes them.
    private static func files(in folder: TemporaryDirectory) throws -> [String] {
        let grid = PixelGrid.gradient(width: 120, height: 90)
        let image = Image(bitmap: try grid.bitmap(channels: 4))
        var files = ["trial:good"]
        for format in [ImageFormat.AVIF, .HEIC, .JPEGXL, .TIFF] {
            guard let data = try? image.encoded(as: format, options: ImageEncodingOptions())
            else { continue }
            files.append(try folder.write(data, to: "picture.\(format.rawValue)").path)
        }
        let moving = try AVIFFixture().data(grid, .gradient(width: 120, height: 90), grid, grid)
        files.append(try folder.write(moving, to: "moving.avif").path)
        let colours = try JPEGXLFixture().data([1, 0, 0], [0, 1, 0], [0, 0, 1])
        files.append(try folder.write(colours, to: "moving.jxl").path)
        let drawing = """
            <svg xmlns="http://www.w3.org/2000/svg" width="120" height="90"><rect width="60" height="40" \
            fill="teal"/><text x="5" y="80" font-size="20">Halcyon</text></svg>
            """
        files.append(try folder.write(Data(drawing.utf8), to: "drawing.svg").path)
        return files
    }

    @Test func workersDecodeTheSamePixels() async throws {
        let folder = try TemporaryDirectory()
        let corpus = [
            "gradient-10b-displayp3-alpha.heic", "TestImage.pdf", "TestImage.svg", "sample.tif",
        ]
        let files =
            try Self.files(in: folder)
            + corpus.compactMap { Corpus.file("formats/\($0)")?.path }
            // One whose header is told although no decoder opens it.
            + [Corpus.file("found/int32.tiff")?.path].compactMap(\.self)
        let run = try TrialRun(["compare"] + files)
        #expect(await run.exitCode() == 0)
        let lines = await run.all().filter { $0.name != nil }
        #expect(lines.count == files.count)
        for line in lines {
            #expect(line.outcome == "equal", "\(line.name ?? ""): \(line.differing ?? "")")
        }
        #expect((lines.counts?.started ?? 0) > 0)
    }
}
