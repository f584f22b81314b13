import Testing
import Vips

@Suite struct AlphaTests {
    private let colour = Pixels.numbered(6, 4, 3)

    @Test func addsAnOpaqueBandOnce() throws {
        let image = try colour.image()
        #expect(!image.hasAlpha)
        let opaque = try image.addingAlpha()
        #expect(opaque.hasAlpha)
        #expect(
            try Pixels(opaque)
                == Pixels(6, 4, 4) { x, y, band in band < 3 ? colour[x, y][band] : 255 })
        #expect(try opaque.addingAlpha().bands == 4)
        #expect(try Pixels.numbered(3, 3, 1).image().addingAlpha().bands == 2)
    }

    @Test func splitsAndJoinsBands() throws {
        let source = Pixels.numbered(6, 4, 4)
        let (bands, alpha) = try source.image().alphaSplit()
        let mask = try #require(alpha)
        #expect(try Pixels(bands) == Pixels(6, 4, 3) { x, y, band in source[x, y][band] })
        #expect(try Pixels(mask) == Pixels(6, 4, 1) { x, y, _ in source[x, y][3] })
        #expect(try Pixels(bands.bandJoined(with: mask)) == source)
        #expect(try colour.image().alphaSplit().alpha == nil)
    }

    @Test func flattensOntoTheBackground() throws {
        let alpha: [UInt8] = [0, 51, 102, 255]
        let source = Pixels(4, 1, 4) { x, _, band in band < 3 ? 200 : alpha[x] }
        let flat = try Pixels(source.image().flattened(background: [100, 0, 50]))
        for x in 0..<4 {
            let opacity = Double(alpha[x]) / 255
            for (band, background) in [100.0, 0, 50].enumerated() {
                let expected = 200 * opacity + background * (1 - opacity)
                #expect(abs(Double(flat[x, 0][band]) - expected) <= 1)
            }
        }
        #expect(flat.bands == 3)
    }

    @Test func undoesPremultiplication() throws {
        let source = Pixels(5, 5, 4) { x, y, band in
            band < 3 ? UInt8(x * 40 + y * 10 + band) : UInt8(55 + x * 50)
        }
        let there = try source.image().premultiplied()
        #expect(there.format == .float)
        #expect(try Pixels(there.unpremultiplied().rounded(to: .uchar)) == source)
    }

    @Test func compositesByThePorterDuffFormula() throws {
        let below = Pixels(3, 3, 4) { _, _, band in [10, 200, 90, 255][band] }
        let above = Pixels(3, 3, 4) { x, _, band in
            [240, 20, 60, [0, 128, 255][x]][band]
        }
        let result = try Pixels(above.image().composited(over: below.image()))
        for x in 0..<3 {
            let opacity = [0, 128.0 / 255, 1][x]
            for (band, pair) in [(240.0, 10.0), (20, 200), (60, 90)].enumerated() {
                let expected = pair.0 * opacity + pair.1 * (1 - opacity)
                #expect(abs(Double(result[x, 1][band]) - expected) <= 1)
            }
            #expect(result[x, 1][3] == 255)
        }
    }

    @Test func compositesAtAnOffsetAndMultiplies() throws {
        let below = Pixels(4, 4, 3) { _, _, _ in 200 }
        let above = Pixels(2, 2, 3) { _, _, _ in 51 }
        let result = try Pixels(
            above.image().composited(over: below.image(), mode: .multiply, left: 1, top: 2))
        #expect(result.bands == 4)
        #expect(result[0, 0].prefix(3).allSatisfy { $0 == 200 })
        #expect(result[1, 2].prefix(3).allSatisfy { 39...41 ~= $0 })
        #expect(result[3, 3].prefix(3).allSatisfy { $0 == 200 })
    }

    @Test(arguments: VipsBlendMode.allCases) func knowsEveryBlendMode(mode: VipsBlendMode) throws {
        let image = try Pixels.numbered(3, 3, 4).image()
        #expect(try Pixels(image.composited(over: image, mode: mode)).bands == 4)
    }

    @Test func scalesAndRoundsNumbers() throws {
        let image = try Pixels(3, 1, 3) { x, _, band in UInt8(x * 100 + band) }.image()
        let linear = try image.linear(multiply: [0.5, 2, 1], add: [0, 10, -150])
        #expect(linear.format == .float)
        #expect(
            try Pixels(linear.rounded(to: .uchar))
                == Pixels(3, 1, 3) { x, _, band in
                    switch band {
                    case 0: UInt8(x * 50)
                    case 1: UInt8(min((x * 100 + 1) * 2 + 10, 255))
                    default: UInt8(max(x * 100 + 2 - 150, 0))
                    }
                })
        let thirds = try image.linear(multiply: [1.0 / 3], add: [0])
        let truncated = try Pixels(thirds.cast(to: .uchar))
        let rounded = try Pixels(thirds.rounded(to: .uchar))
        for x in 0..<3 {
            for band in 0..<3 {
                let exact = Double(x * 100 + band) / 3
                #expect(Double(rounded[x, 0][band]) == exact.rounded())
                #expect(Double(truncated[x, 0][band]) == exact.rounded(.down))
            }
        }
        #expect(try thirds.rounded(to: .ushort).deepSamples()[8] == 67)
    }
}
