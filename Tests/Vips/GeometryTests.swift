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
    @Test(arguments: 1...8)
    func appliesTheOrientation(orientation: Int) throws {
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
        #expect(!upright.hasField("orientation"))
        #expect(upright.interpretation == .srgb)
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
