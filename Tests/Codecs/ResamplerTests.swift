import CCodecs
import Foundation
import Testing

@testable import DirectCodecs

struct ResamplerTests {
    /// Samples with edges, slopes and noise, always the same.
    static func samples(_ width: Int, _ height: Int, channels: Int = 1) -> [UInt8] {
        var state: UInt32 = 12345
        return (0..<width * height * channels).map { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            let pixel = index / channels
            let (x, y) = (pixel % width, pixel / width)
            let slope = (x * 5 + y * 3 + index % channels * 40) % 200
            let edge = (x / 9 + y / 7) % 2 == 0 ? 40 : 0
            return UInt8(clamping: slope + edge + Int(state >> 28))
        }
    }

    /// Resamples one plane with the kernels; strips of `strip` rows.
    private static func resampled(
        _ plane: [UInt8], _ horizontal: SampleAxis, _ vertical: SampleAxis, strip: Int = 3,
        kernels: cpixels_kernels = cpixels_best().pointee
    ) -> [Double] {
        let resampler = PlaneResampler(
            horizontal: horizontal, vertical: vertical,
            rowCapacity: horizontal.sourceCount + 7, stripHeight: strip, kernels: kernels)
        var result: [Double] = []
        var row = [Int16](repeating: 0, count: resampler.targetRowCapacity)
        var next = 0
        while next < vertical.sourceCount {
            let count = min(strip, vertical.sourceCount - next)
            resampler.reserve(count) { index, target in
                for x in 0..<horizontal.sourceCount {
                    target[x] = plane[(next + index) * horizontal.sourceCount + x]
                }
            }
            resampler.commit(count)
            next += count
            while resampler.hasNextRow {
                row.withUnsafeMutableBufferPointer { resampler.writeNextRow(to: $0.baseAddress!) }
                result += row.prefix(horizontal.targetCount).map { Double($0) / 64 }
            }
        }
        #expect(!resampler.hasNextRow)
        return result
    }

    @Test(arguments: [
        (64, 48, 20, 15), (100, 70, 40, 28), (33, 21, 32, 20), (5, 3, 2, 1), (400, 3, 7, 2),
        (40, 30, 40, 30), (17, 9, 40, 21), (1, 1, 3, 2), (64, 64, 1, 1),
    ])
    func isLanczosInDoublePrecision(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) {
        let plane = Self.samples(w, h)
        let (horizontal, vertical) = ExactLanczos.axes(w, h, toW, toH)
        let exact = ExactLanczos.plane(plane.map(Double.init), horizontal, vertical)
        let made = Self.resampled(plane, horizontal, vertical)
        #expect(made.count == exact.count)
        #expect(zip(made, exact).allSatisfy { abs($0 - $1) < 0.1 })
    }

    @Test func endsWhereThePictureEnds() {
        let plane = Self.samples(51, 40)
        let horizontal = SampleAxis(sourceCount: 51, extent: 50.125, targetCount: 20)
        let vertical = SampleAxis(sourceCount: 40, extent: 39.5, targetCount: 17)
        let exact = ExactLanczos.plane(plane.map(Double.init), horizontal, vertical)
        let made = Self.resampled(plane, horizontal, vertical)
        #expect(zip(made, exact).allSatisfy { abs($0 - $1) < 0.1 })
    }

    @Test(arguments: [(64, 48, 20, 15), (100, 70, 64, 50), (400, 3, 7, 2), (17, 9, 40, 21)])
    func givesTheSameBitsOnAnyProcessor(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) {
        let plane = Self.samples(w, h)
        let (horizontal, vertical) = ExactLanczos.axes(w, h, toW, toH)
        let portable = cpixels_portable().pointee
        #expect(
            Self.resampled(plane, horizontal, vertical)
                == Self.resampled(plane, horizontal, vertical, kernels: portable))
        for channels in [3, 4] {
            let pixels = Self.samples(w, h, channels: channels)
            #expect(
                Self.resampled(pixels, channels, horizontal, vertical)
                    == Self.resampled(pixels, channels, horizontal, vertical, kernels: portable))
        }
    }

    @Test(arguments: [1, 2, 16, 100]) func makesTheSameRowsOfStripsOfAnyHeight(_ strip: Int) {
        let plane = Self.samples(40, 61)
        let (horizontal, vertical) = ExactLanczos.axes(40, 61, 13, 19)
        #expect(
            Self.resampled(plane, horizontal, vertical, strip: strip)
                == Self.resampled(plane, horizontal, vertical))
    }

    @Test(arguments: [UInt8(0), 1, 127, 254, 255]) func keepsAFlatColour(_ level: UInt8) {
        let plane = [UInt8](repeating: level, count: 97 * 53)
        let (horizontal, vertical) = ExactLanczos.axes(97, 53, 31, 11)
        #expect(Self.resampled(plane, horizontal, vertical).allSatisfy { $0 == Double(level) })
    }

    /// Resamples interleaved pixels, row by row.
    private static func resampled(
        _ pixels: [UInt8], _ channels: Int, _ horizontal: SampleAxis, _ vertical: SampleAxis,
        kernels: cpixels_kernels = cpixels_best().pointee
    ) -> [UInt8] {
        let resampler = InterleavedResampler(
            horizontal: horizontal, vertical: vertical, channels: channels, kernels: kernels)
        var result: [UInt8] = []
        var row = [UInt8](repeating: 0, count: horizontal.targetCount * channels)
        pixels.withUnsafeBufferPointer { pixels in
            for index in 0..<vertical.sourceCount {
                resampler.push(pixels.baseAddress! + index * horizontal.sourceCount * channels)
                while resampler.hasNextRow {
                    row.withUnsafeMutableBufferPointer {
                        resampler.writeNextRow(to: $0.baseAddress!)
                    }
                    result += row
                }
            }
        }
        return result
    }

    @Test(arguments: [(64, 48, 20, 15), (33, 21, 32, 20), (400, 3, 7, 2), (7, 5, 3, 2)])
    func resamplesEachChannelOfRGB(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) {
        let pixels = Self.samples(w, h, channels: 3)
        let (horizontal, vertical) = ExactLanczos.axes(w, h, toW, toH)
        let made = Self.resampled(pixels, 3, horizontal, vertical)
        for channel in 0..<3 {
            let exact = ExactLanczos.channel(channel, of: pixels, 3, horizontal, vertical)
            #expect(made.count == 3 * exact.count)
            for (index, value) in exact.enumerated() {
                #expect(abs(Double(made[3 * index + channel]) - min(max(value, 0), 255)) < 0.6)
            }
        }
    }

    @Test func weighsColoursByTheirOpacity() {
        let pixels = Self.samples(60, 40, channels: 4)
        let (horizontal, vertical) = ExactLanczos.axes(60, 40, 17, 13)
        let made = Self.resampled(pixels, 4, horizontal, vertical)
        let alpha = ExactLanczos.channel(3, of: pixels, 4, horizontal, vertical)
        for channel in 0..<3 {
            let products = stride(from: 0, to: pixels.count, by: 4).map {
                Double(pixels[$0 + channel]) * Double(pixels[$0 + 3])
            }
            for (index, product) in ExactLanczos.plane(products, horizontal, vertical).enumerated()
            {
                let colour = min(max(product / alpha[index], 0), 255)
                #expect(abs(Double(made[4 * index + channel]) - colour) < 2)
            }
        }
        for (index, value) in alpha.enumerated() {
            #expect(abs(Double(made[4 * index + 3]) - min(max(value, 0), 255)) < 0.6)
        }
    }

    @Test func keepsAColourNextToTransparentPixels() {
        // Orange on the left; on the right nothing, which is green.
        let pixels = (0..<32 * 8).flatMap { index -> [UInt8] in
            index % 32 < 16 ? [255, 128, 0, 255] : [0, 255, 0, 0]
        }
        let (horizontal, vertical) = ExactLanczos.axes(32, 8, 11, 3)
        let made = Self.resampled(pixels, 4, horizontal, vertical)
        for index in stride(from: 0, to: made.count, by: 4) where made[index + 3] > 8 {
            #expect(made[index] >= 253)
            #expect((126...130).contains(made[index + 1]))
            #expect(made[index + 2] == 0)
        }
        #expect(made[40 + 3] == 0)
    }
}
