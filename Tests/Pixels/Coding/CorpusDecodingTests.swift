import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite(.enabled(if: Corpus.directory != nil))
struct CorpusDecodingTests {
    static let whole = ["formats", "animated", "orientation", "photos"].flatMap {
        Corpus.files(in: $0)
    }
    /// A whole file that only looks damaged: WebP with text in it that other programs took for SVG.
    static let disguised = "looks-like-svg.webp"
    static let broken = Corpus.files(in: "broken").filter { $0.lastPathComponent != disguised }

    @Test(arguments: whole)
    func decodesEveryWholeFile(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        let image = try Image.decoding(data, limits: DecodingLimits(allowsPDF: true))
        let bitmap = try image.bitmap()
        #expect(bitmap.size == image.pixelSize)
        #expect(bitmap.hasAlpha == image.hasAlpha && bitmap.depth == image.depth)
        guard image.frameCount > 1 else { return }
        let frames = try image.allBitmaps()
        #expect(frames.map(\.size) == frames.indices.map { _ in image.pixelSize })
        #expect(frames.count == image.frameCount)
    }

    /// The files are named after their bits per sample.
    @Test(
        arguments: Corpus.files(in: "formats").filter {
            $0.lastPathComponent.hasPrefix("gradient-")
        })
    func keepsEightAndWidensMoreBits(_ file: URL) throws {
        let bitmap = try decoded(Data(contentsOf: file))
        let name = file.lastPathComponent
        #expect(bitmap.size == PixelSize(64, 64))
        #expect(bitmap.depth == (name.hasPrefix("gradient-8b") ? .eight : .sixteen))
        #expect(bitmap.hasAlpha == name.contains("alpha"))
    }

    @Test(arguments: broken)
    func reportsEveryBrokenFile(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        #expect(throws: ImageCodingError.self) { try Image.decoding(data).bitmap() }
    }

    @Test(arguments: Corpus.files(in: "bombs"))
    func refusesBombsByTheirHeader(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        let error = #expect(throws: ImageCodingError.self) { try EncodedImage(data) }
        guard case .tooManyPixels(let size, _) = error, size.pixelCount > 150_000_000 else {
            Issue.record("not refused for its size: \(String(describing: error))")
            return
        }
    }

    @Test func letsBytesDecideNotTextInThem() throws {
        let file = try #require(Corpus.file("broken/\(Self.disguised)"))
        let image = try Image.decoding(Data(contentsOf: file))
        #expect(image.content.size == PixelSize(256, 256))
        #expect(try image.bitmap().size == PixelSize(256, 256))
    }
}
