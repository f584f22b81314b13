import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Pictures without colours, which are written without them.
@Suite struct GreyPictureTests {
    /// What `/info` says of the channels of an answer.
    private func bands(_ answer: LiveServer.Answer) async throws -> Int? {
        let live = try await LiveServer.start(files: ["a.bin": answer.body])
        return try await live.ask("/info/_/b:1/plain/local:///a.bin").json["bands"] as? Int
    }

    @Test(arguments: [("jpg", 1), ("png", 1), ("tiff", 1), ("webp", 3)])
    func aGreyPictureHasOneBandWhereTheFormatCan(format: String, count: Int) async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask("/_/w:200/plain/local:///camera.png@\(format)")
        #expect(answer.status == 200)
        #expect(try await bands(answer) == count)
        // The same picture as one of three bands, made of the same pixels.
        let grey = try Image.decoding(answer.body).bitmap()
        let colour = try await live.ask("/_/w:200/plain/local:///camera.png@webp")
        #expect(grey.size == (try colour.pixelSize))
        #expect(grey[100, 100].red == grey[100, 100].blue)
        #expect(try await bands(live.ask(.china("w:200", "@\(format)"))) == 3)
    }

    @Test func opacityStaysBesideTheGrey() async throws {
        func picture(_ colour: (Int, Int) -> Pixel) -> Data {
            PNGFixture.data(PixelGrid(width: 32, height: 32, pixel: colour), as: .rgba8)
        }
        let files = [
            "partly.png": picture {
                Pixel(UInt8(8 * $0), UInt8(8 * $0), UInt8(8 * $0), UInt8(8 * $1))
            },
            "opaque.png": picture { x, _ in Pixel(UInt8(8 * x), UInt8(8 * x), UInt8(8 * x), 255) },
            "nearly.png": picture { Pixel(7, 7, $0 == 31 && $1 == 31 ? 8 : 7, 255) },
        ]
        let live = try await LiveServer.start(files: files)
        for (name, count) in [("partly", 2), ("opaque", 1), ("nearly", 3)] {
            let answer = try await live.ask("/_/plain/local:///\(name).png@png")
            #expect(try await bands(answer) == count, "\(name)")
            let bitmap = try Image.decoding(answer.body).bitmap()
            let source = try Image.decoding(#require(files["\(name).png"])).bitmap()
            for (x, y) in [(0, 31), (7, 9), (31, 31)] {
                #expect(bitmap[x, y] == source[x, y], "\(name) \(x) \(y)")
            }
        }
        // JPEG has no opacity: the ground is white.
        let jpeg = try await live.ask("/_/q:100/plain/local:///partly.png@jpg")
        #expect(try await bands(jpeg) == 1)
        #expect(try Image.decoding(jpeg.body).bitmap()[0, 0].red > 0.95)
    }

    @Test func metadataAndProfilesAreThoseOfTheSource() async throws {
        let live = try await LiveServer.start { $0.processing.writesProgressiveJPEG = true }
        let answer = try await live.ask("/_/w:100/plain/local:///camera.png@jpg")
        // A scan from coarse to fine, of one component.
        let bytes = [UInt8](answer.body)
        let frame = try #require(bytes.firstRange(of: [0xFF, 0xC2]))
        #expect(bytes[frame.lowerBound + 9] == 1)
    }
}
