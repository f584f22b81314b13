import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonPixels

struct StructuralSimilarityTests {
    @Test func equalPixelsAreOne() throws {
        for (width, height, channels) in [(40, 30, 3), (30, 40, 4), (1, 1, 3), (3, 20, 4)] {
            let bitmap = try Bitmap.gradient(width, height, channels: channels)
            #expect(abs(bitmap.structuralSimilarity(to: bitmap) - 1) < 1e-6)
        }
    }

    /// Without any structure, the formula has the means alone.
    @Test func greysAreAsLikeAsTheirMeans() throws {
        let (a, b) = (100.0, 130.0)
        let (dark, light) = try (
            Bitmap.drawn(20, 16) { _, _ in [100, 100, 100] },
            Bitmap.drawn(20, 16) { _, _ in [130, 130, 130] }
        )
        let c1 = 0.01 * 255 * 0.01 * 255
        let expected = (2 * a * b + c1) / (a * a + b * b + c1)
        #expect(abs(dark.structuralSimilarity(to: light) - expected) < 0.001)
    }

    @Test func transparentPixelsAreWhite() throws {
        let clear = try Bitmap.drawn(20, 16, channels: 4) { x, y in
            [UInt8(x * 10), UInt8(y * 10), 7, 0]
        }
        let white = try Bitmap.drawn(20, 16) { _, _ in [255, 255, 255] }
        #expect(abs(clear.structuralSimilarity(to: white) - 1) < 1e-6)
    }

    @Test func lessQualityIsLessLike() throws {
        var random = SeededGenerator(state: 7)
        let bitmap = try Bitmap.drawn(96, 64) { x, y in
            let noise = Int(random.next() % 60)
            return [UInt8(x * 2 + noise / 2), UInt8(y * 3), UInt8(100 + noise)]
        }
        let found = try [0.2, 0.5, 0.8, 1].map { quality in
            let file = try encoded(bitmap, as: .JPEG, quality: quality)
            return try bitmap.structuralSimilarity(to: decoded(file))
        }
        #expect(found == found.sorted() && found[0] < found[3])
        #expect(found.allSatisfy { (0...1).contains($0) })
    }
}
