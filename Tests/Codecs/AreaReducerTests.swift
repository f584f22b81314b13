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
        #expect(isExact(UInt8.self))
        #expect(isExact(UInt16.self))
    }
}
