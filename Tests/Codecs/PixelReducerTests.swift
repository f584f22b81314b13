import Foundation
import Testing

@testable import DirectCodecs

struct AreaReducerTests {
    /// RGBA with edges, slopes and noise.
    private static func samples<Sample: FixedWidthInteger & UnsignedInteger>(
        _ width: Int, _ height: Int, as type: Sample.Type
    ) -> [Sample] {
        ResamplerTests.samples(width, height, channels: 4).map { Sample.max / 255 * Sample($0) }
    }

    private static func reduced<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: [Sample], _ w: Int, _ h: Int, _ toW: Int, _ toH: Int
    ) -> [Double] {
        let reducer = AreaReducer(
            sourceWidth: w, sourceHeight: h, width: toW, height: toH, isDeep: Sample.bitWidth == 16)
        pixels.withUnsafeBytes { bytes in
            for y in 0..<h {
                reducer.push(bytes.baseAddress! + y * w * 4 * MemoryLayout<Sample>.stride)
            }
        }
        #expect(reducer.byteCount == toW * toH * 16)
        return (0..<toW * toH * 4).map { Double(reducer.pixels[$0]) }
    }

    /// The same with each pixel's share of each of the target's, one by one.
    private static func exact<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: [Sample], _ w: Int, _ h: Int, _ toW: Int, _ toH: Int
    ) -> [Double] {
        func share(_ source: Int, _ target: Int, _ count: Int, _ targets: Int) -> Double {
            let scale = Double(targets) / Double(count)
            let from = max(Double(source) * scale, Double(target))
            return max(0, min(Double(source + 1) * scale, Double(target + 1)) - from)
        }
        var result = [Double](repeating: 0, count: toW * toH * 4)
        for (y, row) in (0..<h).flatMap({ y in (0..<toH).map { (y, $0) } }) {
            let down = share(y, row, h, toH)
            guard down > 0 else { continue }
            for (x, column) in (0..<w).flatMap({ x in (0..<toW).map { (x, $0) } }) {
                let weight = down * share(x, column, w, toW)
                guard weight > 0 else { continue }
                let place = (y * w + x) * 4
                let alpha = Double(pixels[place + 3]) / Double(Sample.max)
                for channel in 0..<4 {
                    let sample = channel == 3 ? Double(Sample.max) : Double(pixels[place + channel])
                    result[(row * toW + column) * 4 + channel] += weight * alpha * sample
                }
            }
        }
        return result
    }

    @Test(arguments: [
        (40, 30, 10, 5), (41, 29, 10, 7), (100, 3, 7, 1), (2, 2, 1, 1), (5, 97, 2, 13),
        (64, 64, 32, 32), (99, 50, 1, 25),
    ])
    func averagesByAreaAndOpacity(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) {
        func isExact<Sample: FixedWidthInteger & UnsignedInteger>(_ type: Sample.Type) -> Bool {
            let pixels = Self.samples(w, h, as: type)
            let (made, exact) = (
                Self.reduced(pixels, w, h, toW, toH), Self.exact(pixels, w, h, toW, toH)
            )
            return zip(made, exact).allSatisfy { abs($0 - $1) < 0.01 * Double(Sample.max / 255) }
        }
        #expect(isExact(UInt8.self) && isExact(UInt16.self))
    }
}

struct FloatResamplerTests {
    private static func samples(_ count: Int) -> [Float] {
        var state: UInt32 = 4711
        return (0..<count).map { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Float((index * 37) % 3000) + Float(state >> 22)
        }
    }

    /// Pushes rows of numbers, and takes the target rows that they make possible.
    private static func resampled(
        _ source: [Float], _ horizontal: SampleAxis, _ vertical: SampleAxis,
        lanes: FloatResampler.Lanes
    ) -> [Float] {
        let resampler = FloatResampler(horizontal: horizontal, vertical: vertical, lanes: lanes)
        let rowCount = horizontal.sourceCount * lanes.rawValue
        var row = [Float](repeating: 0, count: horizontal.targetCount * lanes.rawValue)
        var result: [Float] = []
        for index in 0..<vertical.sourceCount {
            resampler.push { target in
                for x in 0..<rowCount { target[x] = source[index * rowCount + x] }
            }
            while resampler.hasNextRow {
                row.withUnsafeMutableBufferPointer { resampler.writeNextRow(to: $0.baseAddress!) }
                result += row
            }
        }
        return result
    }

    @Test(arguments: [
        (64, 48, 20, 15), (100, 70, 40, 28), (33, 21, 32, 20), (5, 3, 2, 1), (400, 3, 7, 2),
        (40, 30, 40, 30), (17, 9, 40, 21), (1, 1, 3, 2), (64, 64, 1, 1),
    ])
    func isLanczosInDoublePrecision(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) {
        let source = Self.samples(w * h)
        let (horizontal, vertical) = ExactLanczos.axes(w, h, toW, toH)
        let exact = ExactLanczos.plane(source.map(Double.init), horizontal, vertical)
        let made = Self.resampled(source, horizontal, vertical, lanes: .one)
        #expect(made.count == exact.count)
        // Weights are rounded to 1/16384.
        #expect(zip(made, exact).allSatisfy { abs(Double($0) - $1) < 1.5 })
    }

    @Test func halvedSamplesAreInterpolatedFirst() {
        let (w, h) = (25, 18)
        let halved = Self.samples(w * h)
        // Three quarters of the nearer sample, and a quarter of the other.
        func doubled(_ line: [Float]) -> [Float] {
            line.indices.flatMap { index in
                [max(index - 1, 0), min(index + 1, line.count - 1)]
                    .map { 0.75 * line[index] + 0.25 * line[$0] }
            }
        }
        let rows = (0..<h).map { doubled(Array(halved[$0 * w..<($0 + 1) * w])) }
        let columns = (0..<2 * w).map { x in doubled(rows.map { $0[x] }) }
        let full = (0..<2 * h).flatMap { y in columns.map { $0[y] } }
        let expected = Self.resampled(
            full, SampleAxis(sourceCount: 2 * w, targetCount: 13),
            SampleAxis(sourceCount: 2 * h, targetCount: 30), lanes: .one)
        let made = Self.resampled(
            halved, SampleAxis(sourceCount: w, targetCount: 13, isHalved: true),
            SampleAxis(sourceCount: h, targetCount: 30, isHalved: true), lanes: .one)
        #expect(made.count == expected.count)
        #expect(zip(made, expected).allSatisfy { abs($0 - $1) < 1.5 })
    }

    @Test func fourLanesAreFourPlanes() {
        let source = Self.samples(4 * 31 * 19)
        let (horizontal, vertical) = ExactLanczos.axes(31, 19, 9, 7)
        let made = Self.resampled(source, horizontal, vertical, lanes: .four)
        for lane in 0..<4 {
            let plane = stride(from: lane, to: source.count, by: 4).map { source[$0] }
            let expected = Self.resampled(plane, horizontal, vertical, lanes: .one)
            let found = stride(from: lane, to: made.count, by: 4).map { made[$0] }
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 0.01 })
        }
    }

    @Test(arguments: [3, 4]) func flatColoursOf16BitsStayWhatTheyAre(channels: Int) {
        let colour: [UInt16] = [65535, 12345, 1, 40001]
        let row = (0..<50).flatMap { _ in colour.prefix(channels) }
        var made = [UInt16](repeating: 0, count: 7 * 5 * channels)
        made.withUnsafeMutableBytes { target in
            let reducer = PixelReducer(
                source: (50, 40), width: 7, height: 5, channels: channels, depth: 16,
                into: target.baseAddress!)
            row.withUnsafeBytes { bytes in
                for _ in 0..<40 { reducer.push(bytes.baseAddress!) }
            }
        }
        for start in stride(from: 0, to: made.count, by: channels) {
            #expect(Array(made[start..<start + channels]) == Array(colour.prefix(channels)))
        }
    }
}

struct PixelTurningTests {
    /// What is shown of the stored pixels a b c / d e f, after the table of EXIF 2.3 for tag 274.
    @Test(arguments: [
        (1, "abcdef"), (2, "cbafed"), (3, "fedcba"), (4, "defabc"), (5, "adbecf"),
        (6, "daebfc"), (7, "fcebda"), (8, "cfbead"),
    ])
    func turnsAsEXIFSays(_ orientation: Int, _ expected: String) {
        for channels in [1, 3, 4] {
            let stored = "abcdef".utf8.flatMap { letter in
                (0..<channels).map { letter &+ UInt8($0) * 20 }
            }
            var shown = [UInt8](repeating: 0, count: stored.count)
            shown.withUnsafeMutableBufferPointer {
                PixelTurning.turn(
                    stored, width: 3, height: 2, channels: channels, orientation: orientation,
                    into: $0.baseAddress!)
            }
            let letters = expected.utf8.flatMap { letter in
                (0..<channels).map { letter &+ UInt8($0) * 20 }
            }
            #expect(shown == letters)
        }
    }
}
