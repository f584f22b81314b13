import Testing
import Vips

@Suite struct ResizeTests {
    @Test func givesExactlyTheSizeAskedFor() throws {
        var random = SystemRandomNumberGenerator()
        for round in 0..<400 {
            let bands = Int.random(in: 1...4, using: &random)
            let sides = (0..<4).map { _ in Int.random(in: 1...300, using: &random) }
            let kernel = VipsKernel.allCases[round % VipsKernel.allCases.count]
            let image = try Pixels.numbered(sides[0], sides[1], bands).image()
            let resized = try image.resized(to: sides[2], height: sides[3], kernel: kernel)
            let pixels = try resized.rendered()
            let shape: [Int] = [pixels.width, pixels.height, pixels.bands]
            #expect(shape == [sides[2], sides[3], bands], "\(sides) \(kernel)")
            #expect(pixels.format == .uchar)
            #expect(resized.interpretation == image.interpretation)
        }
    }

    @Test func givesExactSizesFromLargeImages() throws {
        for (width, height) in [(4000, 3000), (9999, 17), (3, 8191)] {
            let image = try VipsImage.create(
                "black", ["width": .int(width), "height": .int(height), "bands": 3])
            for (newWidth, newHeight) in [(1, 1), (333, 1), (1, 777), (3999, 2999), (101, 57)] {
                let resized = try image.resized(to: newWidth, height: newHeight)
                #expect(resized.shape == [newWidth, newHeight, 3])
            }
        }
    }

    @Test(arguments: VipsKernel.allCases)
    func keepsAConstantColour(kernel: VipsKernel) throws {
        let image = try Pixels(37, 53, 3) { _, _, band in UInt8(50 + 60 * band) }.image()
        for (width, height) in [(11, 7), (60, 90), (37, 5), (80, 53)] {
            let resized = try Pixels(image.resized(to: width, height: height, kernel: kernel))
            #expect(resized == Pixels(width, height, 3) { _, _, band in UInt8(50 + 60 * band) })
        }
    }

    @Test(arguments: VipsKernel.allCases)
    func keepsATranslucentColour(kernel: VipsKernel) throws {
        let colour: [UInt8] = [200, 33, 127, 128]
        let image = try Pixels(40, 30, 4) { _, _, band in colour[band] }.image()
        let resized = try Pixels(image.resized(to: 17, height: 23, kernel: kernel))
        #expect(resized == Pixels(17, 23, 4) { _, _, band in colour[band] })
    }

    @Test func givesTransparentPixelsNoWeight() throws {
        // Left half red and opaque, right half green and fully transparent.
        let image = try Pixels(64, 64, 4) { x, _, band in
            (x < 32 ? [255, 0, 0, 255] : [0, 255, 0, 0])[band]
        }.image()
        let resized = try Pixels(image.resized(to: 9, height: 9, kernel: .linear))
        for y in 0..<9 {
            for x in 0..<9 where resized[x, y][3] > 4 {
                #expect(resized[x, y][0] >= 250)
                #expect(resized[x, y][1] <= 5)
            }
        }
        let edge = resized[4, 4][3]
        #expect(100...155 ~= edge)
    }

    @Test func averagesWhenItShrinksByWholeNumbers() throws {
        // A checkerboard of 0 and 200 has the mean 100 everywhere.
        let image = try Pixels(64, 64, 1) { x, y, _ in (x + y) % 2 == 0 ? 0 : 200 }.image()
        let resized = try Pixels(image.resized(to: 8, height: 8, kernel: .linear))
        #expect(resized.samples.allSatisfy { 99...101 ~= $0 })
    }

    @Test(arguments: ["jpeg", "png"])
    func shrinksSequentialImagesAtAnyFactor(format: String) throws {
        let source = try Pixels.gradient(1500, 1200).image()
        let encoded = try source.encoded("\(format)save_buffer")
        for (width, height) in [(750, 600), (100, 80), (13, 1199), (1499, 3), (1, 1)] {
            let sequential = try VipsImage.load(
                "\(format)load_buffer", bytes: encoded, ["access": "sequential"])
            let random = try VipsImage.load("\(format)load_buffer", bytes: encoded)
            #expect(
                try Pixels(sequential.resized(to: width, height: height))
                    == Pixels(random.resized(to: width, height: height)))
        }
    }

    @Test func keepsDeepImagesDeep() throws {
        let image = try Pixels(20, 20, 3) { _, _, _ in 200 }.image().converted(to: .rgb16)
            .addingAlpha()
        let resized = try image.resized(to: 7, height: 9)
        #expect(resized.format == .ushort)
        #expect(resized.interpretation == .rgb16)
        let samples = try resized.deepSamples()
        #expect(samples[0] >> 8 == 200)
        #expect(samples[3] == 65535)
    }

    @Test func refusesEmptySizes() throws {
        let image = try Pixels.numbered(4, 4, 1).image()
        #expect(throws: VipsError.self) { try image.resized(to: 0, height: 4) }
        #expect(throws: VipsError.self) { try image.resized(to: 4, height: -1) }
    }
}
