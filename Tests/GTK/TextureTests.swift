import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct TextureTests {
    @Test func viewsOfOneImageShareATexture() throws {
        let shared = image(.quadrants(width: 6, height: 4))
        let views = [ImageView(image: shared), ImageView(image: shared.withScale(2))]
        let pictures = try views.map { try #require($0.picture) }
        #expect(pictures[0].texture == pictures[1].texture)
        #expect(pictures[0].texture.size == PixelSize(width: 6, height: 4))
        #expect(pictures[0].size == CGSize(width: 6, height: 4))
        #expect(pictures[1].size == CGSize(width: 3, height: 2))
        let other = ImageView(image: image(.quadrants(width: 6, height: 4)))
        #expect(other.picture?.texture != pictures[0].texture)
    }

    @Test func aTextureGoesWithItsLastUser() throws {
        let pixels = bitmap(.quadrants(width: 6, height: 4))
        weak var memory: AnyObject?
        let identity = pixels.identity
        do {
            let view = ImageView(image: Image(bitmap: pixels))
            memory = view.picture?.texture
            #expect(Textures.shared.has(identity))
        }
        #expect(memory == nil && !Textures.shared.has(identity))
    }

    @Test func aTextureKeepsItsPixels() async throws {
        let view = ImageView(image: image(.solid(.blue, width: 6, height: 4)))
        view.contentMode = .stretch
        let texture = try #require(view.picture?.texture)
        view.image = nil
        #expect(texture.size == PixelSize(width: 6, height: 4))
        #expect(Bitmap(downloading: texture.pointer, size: texture.size)?.pixel(3, 2) == .blue)
    }

    /// Depth and alpha of the PNG formats that decode to each layout.
    @Test(arguments: [
        (PNGFixture.Format.rgb8, Bitmap.Depth.eight, false),
        (.rgba8, .eight, true), (.rgb16, .sixteen, false), (.rgba16, .sixteen, true),
    ])
    func everyLayoutIsDrawn(format: PNGFixture.Format, depth: Bitmap.Depth, hasAlpha: Bool) throws {
        let color = Pixel(200, 100, 50, hasAlpha ? 128 : 255)
        let grid = PixelGrid.solid(color, width: 5, height: 3)
        let decoded = try #require(Image(data: PNGFixture.data(grid, as: format))).bitmap()
        #expect(decoded.depth == depth && decoded.hasAlpha == hasAlpha)
        let texture = Texture(decoded)
        let drawn = try #require(Bitmap(downloading: texture.pointer, size: texture.size))
        let pixel = drawn.pixel(4, 2)
        #expect(abs(Int(pixel.red) - 200) <= 1 && abs(Int(pixel.green) - 100) <= 1)
        #expect(abs(Int(pixel.blue) - 50) <= 1 && pixel.alpha == color.alpha)
    }
}
