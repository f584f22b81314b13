import Testing
import Vips

@Suite struct GeometryTests {
    private let source = Pixels.numbered(7, 5, 3)

    @Test func cropsTheRectangle() throws {
        let cropped = try Pixels(source.image().cropped(left: 2, top: 1, width: 4, height: 3))
        #expect(cropped == Pixels(4, 3, 3) { x, y, band in source[x + 2, y + 1][band] })
    }

    @Test func embedsAtAnOffset() throws {
        let embedded = try source.image().embedded(
            left: 3, top: -1, width: 12, height: 6, extend: .background, background: [1, 2, 3])
        let expected = Pixels(12, 6, 3) { x, y, band in
            let (sourceX, sourceY) = (x - 3, y + 1)
            let isInside = 0..<7 ~= sourceX && 0..<5 ~= sourceY
            return isInside ? source[sourceX, sourceY][band] : UInt8(band + 1)
        }
        #expect(try Pixels(embedded) == expected)
    }

    @Test func embedsWithRepeatedEdges() throws {
        let embedded = try source.image().embedded(
            left: 2, top: 2, width: 11, height: 9, extend: .copy)
        let expected = Pixels(11, 9, 3) { x, y, band in
            source[min(max(x - 2, 0), 6), min(max(y - 2, 0), 4)][band]
        }
        #expect(try Pixels(embedded) == expected)
    }

    @Test func flips() throws {
        let image = try source.image()
        #expect(
            try Pixels(image.flippedHorizontally())
                == Pixels(7, 5, 3) { x, y, band in source[6 - x, y][band] })
        #expect(
            try Pixels(image.flippedVertically())
                == Pixels(7, 5, 3) { x, y, band in source[x, 4 - y][band] })
    }

    @Test func rotatesClockwiseByQuarters() throws {
        let image = try source.image()
        let turned = [
            source, Pixels(5, 7, 3) { x, y, band in source[y, 4 - x][band] },
            Pixels(7, 5, 3) { x, y, band in source[6 - x, 4 - y][band] },
            Pixels(5, 7, 3) { x, y, band in source[6 - y, x][band] },
        ]
        for (turns, expected) in turned.enumerated() {
            for full in [-8, -4, 0, 4] {
                #expect(try Pixels(image.rotated(quarterTurns: turns + full)) == expected)
            }
        }
    }

    /// The eight orientations of EXIF, each as the source position of an upright pixel.
    @Test(arguments: 1...8) func appliesTheOrientation(orientation: Int) throws {
        let image = try source.image().settingMetadata([("orientation", .int(orientation))])
        let upright = try image.orientationApplied()
        let (right, bottom) = (6, 4)
        let expected = Pixels(orientation < 5 ? 7 : 5, orientation < 5 ? 5 : 7, 3) { x, y, band in
            switch orientation {
            case 1: source[x, y][band]
            case 2: source[right - x, y][band]
            case 3: source[right - x, bottom - y][band]
            case 4: source[x, bottom - y][band]
            case 5: source[y, x][band]
            case 6: source[y, bottom - x][band]
            case 7: source[right - y, bottom - x][band]
            default: source[right - y, x][band]
            }
        }
        #expect(try Pixels(upright) == expected)
        #expect(!upright.hasField("orientation") && upright.interpretation == .srgb)
        // The original keeps its own.
        #expect(image.int("orientation") == orientation)
    }

    @Test func appliesTheOrientationOfAFile() throws {
        let tall = try Pixels.gradient(64, 32).image()
            .settingMetadata([("orientation", 6)]).encoded("jpegsave_buffer")
        let image = try VipsImage.load("jpegload_buffer", bytes: tall, ["access": "sequential"])
        #expect(image.int("orientation") == 6)
        let upright = try image.copiedToMemory().orientationApplied()
        #expect(upright.shape == [32, 64, 3])
        let saved = try VipsImage.load("jpegload_buffer", bytes: upright.encoded("jpegsave_buffer"))
        #expect((saved.int("orientation") ?? 1) == 1)
        #expect(try saved.orientationApplied().shape == [32, 64, 3])
    }
}

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

    @Test(arguments: VipsKernel.allCases) func keepsAConstantColour(kernel: VipsKernel) throws {
        let image = try Pixels(37, 53, 3) { _, _, band in UInt8(50 + 60 * band) }.image()
        for (width, height) in [(11, 7), (60, 90), (37, 5), (80, 53)] {
            let resized = try Pixels(image.resized(to: width, height: height, kernel: kernel))
            #expect(resized == Pixels(width, height, 3) { _, _, band in UInt8(50 + 60 * band) })
        }
    }

    @Test(arguments: VipsKernel.allCases) func keepsATranslucentColour(kernel: VipsKernel) throws {
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
                #expect(resized[x, y][0] >= 250 && resized[x, y][1] <= 5)
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
        #expect(resized.format == .ushort && resized.interpretation == .rgb16)
        let samples = try resized.deepSamples()
        #expect(samples[0] >> 8 == 200 && samples[3] == 65535)
    }

    @Test func refusesEmptySizes() throws {
        let image = try Pixels.numbered(4, 4, 1).image()
        #expect(throws: VipsError.self) { try image.resized(to: 0, height: 4) }
        #expect(throws: VipsError.self) { try image.resized(to: 4, height: -1) }
    }
}
