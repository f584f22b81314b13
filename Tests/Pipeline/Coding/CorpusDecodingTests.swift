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
        let options = ImageCreatingOptions(limits: DecodingLimits(allowsPDF: true))
        let image = try Image.decoding(data, options: options)
        let bitmap = try image.bitmap()
        #expect(bitmap.size == image.pixelSize)
        #expect(bitmap.hasAlpha == image.hasAlpha)
        #expect(bitmap.depth == image.depth)
        if image.frameCount > 1 {
            let frames = try image.allBitmaps()
            #expect(frames.count == image.frameCount)
            #expect(frames.allSatisfy { $0.size == image.pixelSize })
        }
    }

    /// The files are named after their bits per sample.
    @Test(
        arguments: Corpus.files(in: "formats").filter {
            $0.lastPathComponent.hasPrefix("gradient-")
        })
    func keepsEightAndWidensMoreBits(_ file: URL) throws {
        let bitmap = try decoded(Data(contentsOf: file))
        let name = file.lastPathComponent
        #expect(bitmap.size == PixelSize(width: 64, height: 64))
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
        guard case .tooManyPixels(let size, _) = error else {
            Issue.record("not refused for its size: \(String(describing: error))")
            return
        }
        #expect(size.pixelCount > 150_000_000)
    }

    @Test func letsBytesDecideNotTextInThem() throws {
        let file = try #require(Corpus.file("broken/\(Self.disguised)"))
        let image = try Image.decoding(Data(contentsOf: file))
        #expect(image.content.size == PixelSize(width: 256, height: 256))
        #expect(try image.bitmap().size == PixelSize(width: 256, height: 256))
    }

    @Test(arguments: 2...8)
    func showsAllOrientationsAlike(_ orientation: Int) throws {
        let upright = try Data(contentsOf: #require(Corpus.file("orientation/1.jpg")))
        let turned = try Data(contentsOf: #require(Corpus.file("orientation/\(orientation).jpg")))
        let expected = try decoded(upright)
        let found = try decoded(turned)
        // The files of 5 to 8 are of another scale: compare their proportions and a coarse grid.
        #expect(
            abs(expected.size.width * found.size.height - expected.size.height * found.size.width)
                < 2 * expected.size.longestSide)
        var sum = 0.0
        for row in 0..<8 {
            for column in 0..<8 {
                let (u, v) = ((Double(column) + 0.5) / 8, (Double(row) + 0.5) / 8)
                let a = expected[
                    Int(u * Double(expected.size.width)), Int(v * Double(expected.size.height))]
                let b = found[Int(u * Double(found.size.width)), Int(v * Double(found.size.height))]
                sum += abs(a.red - b.red) + abs(a.green - b.green) + abs(a.blue - b.blue)
            }
        }
        #expect(sum / 192 < 0.08)
    }
}
