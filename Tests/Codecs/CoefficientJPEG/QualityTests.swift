import CCodecs
import CTestKit
import CoefficientJPEG
import CoefficientJPEGTestKit
import DirectCodecs
import Foundation
import Testing

/// At 1/4 and 1/2 the planes differ from libjpeg's on purpose. Both are compared with the whole planes,
/// transformed in double precision and made smaller by Lanczos-3.
@Suite struct QualityTests {
    @Test(arguments: [("china.jpg", 0), ("flower.jpg", 1)])
    func planesAreNearerToTheFilteredPhotographThanLibjpegs(name: String, index: Int) throws {
        let samples = URL(filePath: #filePath).appending(
            path: "../../../../Sources/Programs/HalcyonSamples/Samples")
        let bytes = [UInt8](try Data(contentsOf: samples.appending(path: name).standardized))
        let whole = try WholePlane(of: bytes, component: index)
        for reduction in [JPEGReduction.quarter, .half] {
            let ours = try Planes(decoding: bytes, reducedTo: reduction).planes[index]
            let picture = ReferencePicture(decoding: bytes, denominator: reduction.rawValue)
            let theirs = try #require(picture.planes).planes[index]
            // Whole blocks are made smaller; the rows that stand out below are left away.
            let factor = whole.width / ours.width
            let all = whole.reduced(toWidth: ours.width, height: whole.height / factor)
            let wanted = Array(all.prefix(ours.samples.count))
            #expect(ratio(ours.samples, wanted) >= ratio(theirs.samples, wanted))
        }
    }

    /// The chroma of 4:2:0 at 1/2 keeps all its samples: nothing but rounding may differ.
    @Test func wholeBlocksAreTransformedExactly() throws {
        var sample = JPEGSample(width: 96, height: 80)
        (sample.horizontal, sample.vertical) = (2, 2)
        sample.noise = 120
        let bytes = sample.encoded()
        let ours = try Planes(decoding: bytes, reducedTo: .half).planes[2]
        let whole = try WholePlane(of: bytes, component: 2)
        #expect((ours.width, ours.height) == (whole.width, whole.height))
        for (sample, wanted) in zip(ours.samples, whole.samples) {
            #expect(abs(Double(sample) - min(max(wanted, 0), 255)) < 0.502)
        }
    }

    /// The ratio of signal to noise in decibels.
    private func ratio(_ samples: [UInt8], _ wanted: [Double]) -> Double {
        let squares = zip(samples, wanted).map { pow(Double($0) - min(max($1, 0), 255), 2) }
        return 10 * log10(255 * 255 * Double(samples.count) / squares.reduce(0, +))
    }
}

/// A plane of a file in double precision, by the formula of the standard.
private struct WholePlane {
    let width: Int
    let height: Int
    var samples: [Double]

    init(of bytes: [UInt8], component: Int) throws {
        var coefficients = cjpegref_coefficients()
        try #require(
            cjpegref_read_coefficients(bytes, bytes.count, Int32(component), &coefficients))
        defer { cjpegref_free_coefficients(&coefficients) }
        (width, height) = (coefficients.width, coefficients.height)
        samples = UnsafeBufferPointer(start: coefficients.values, count: width * height)
            .map { Double($0) }
        for block in stride(from: 0, to: width * height, by: 8) { transform(from: block, step: 1) }
        for top in stride(from: 0, to: height, by: 8) {
            for column in 0..<width { transform(from: top * width + column, step: width) }
        }
        for index in samples.indices { samples[index] += 128 }
    }

    /// The inverse transform of eight values.
    private mutating func transform(from start: Int, step: Int) {
        let values = (0..<8).map { samples[start + $0 * step] }
        for x in 0..<8 {
            var sum = 0.0
            for u in 0..<8 { sum += values[u] * Self.basis[u * 8 + x] }
            samples[start + x * step] = sum
        }
    }

    private static let basis = (0..<64).map { index -> Double in
        let (u, x) = (index / 8, index % 8)
        let angle = Double((2 * x + 1) * u) * Double.pi / 16
        return u == 0 ? sqrt(0.125) : 0.5 * cos(angle)
    }

    /// Made smaller by Lanczos-3.
    func reduced(toWidth newWidth: Int, height newHeight: Int) -> [Double] {
        let (horizontal, vertical) = ExactLanczos.axes(width, height, newWidth, newHeight)
        return ExactLanczos.plane(samples, horizontal, vertical)
    }
}

/// The inverse transforms of blocks, beside the formula in double precision.
@Suite struct BlockTransformTests {
    @Test(arguments: [8, 4]) func bothSetsOfKernelsGiveTheSameSamplesAsTheFormula(side: Int) {
        var random = SeededRandom(seed: UInt64(side))
        for _ in 0..<500 {
            let block = Block(side: side, using: &random)
            let best = block.samples(cpixels_best().pointee)
            #expect(best == block.samples(cpixels_portable().pointee))
            for (sample, wanted) in zip(best, block.exactSamples) {
                #expect(abs(Double(sample) - min(max(wanted, 0), 255)) < 0.51)
            }
        }
    }

    @Test(arguments: [8, 4]) func coefficientsBeyondAnyPictureGiveBlackOrWhite(side: Int) {
        for sign in [-1.0, 1.0] {
            var block = Block(side: side)
            block.coefficients[0] = sign * 131_000
            let expected = [UInt8](repeating: sign < 0 ? 0 : 255, count: side * side)
            #expect(block.samples(cpixels_best().pointee) == expected)
            #expect(block.samples(cpixels_portable().pointee) == expected)
        }
    }
}

/// The coefficients of a block, in the scale of an orthonormal transform, row by row.
private struct Block {
    let side: Int
    var coefficients: [Double]

    init(side: Int) {
        self.side = side
        coefficients = Array(repeating: 0, count: side * side)
    }

    /// Few or many coefficients, from faint ones to such that samples have to be limited.
    init(side: Int, using random: inout some RandomNumberGenerator) {
        self.init(side: side)
        let share = Double.random(in: 0...1, using: &random)
        let most = pow(10, Double.random(in: 0...3, using: &random))
        for index in coefficients.indices where Double.random(in: 0...1, using: &random) < share {
            coefficients[index] = Double.random(in: -most...most, using: &random)
        }
    }

    /// The samples by the definition of the transform, not limited.
    var exactSamples: [Double] {
        (0..<side * side).map { position in
            let (y, x) = (position / side, position % side)
            var sum = 128.0
            for v in 0..<side {
                for u in 0..<side {
                    sum += coefficients[v * side + u] * basis(v, y) * basis(u, x)
                }
            }
            return sum
        }
    }

    private func basis(_ frequency: Int, _ place: Int) -> Double {
        guard frequency > 0 else { return 1 / Double(side).squareRoot() }
        let angle = Double((2 * place + 1) * frequency) * Double.pi / Double(2 * side)
        return (2 / Double(side)).squareRoot() * cos(angle)
    }

    /// What a kernel makes of it; in rows that lie apart.
    func samples(_ kernels: cpixels_kernels) -> [UInt8] {
        var prepared = [Float](repeating: 0, count: side * side)
        for row in 0..<side {
            for column in 0..<side {
                prepared[column * side + row] = Float(
                    coefficients[row * side + column] * factor(row) * factor(column))
            }
        }
        let inverse = side == 8 ? kernels.inverse_8! : kernels.inverse_4!
        let distance = side + 3
        var rows = [UInt8](repeating: 77, count: side * distance)
        inverse(prepared, &rows, distance)
        for row in 0..<side {
            #expect(rows[row * distance + side..<(row + 1) * distance].allSatisfy { $0 == 77 })
        }
        return (0..<side * side).map { rows[$0 / side * distance + $0 % side] }
    }

    /// The factors that the kernels want in the coefficients: for eight samples those of Arai, Agui and
    /// Nakajima, √2 · cos(kπ/16)/√8, and for four ½ and sin(π/8)/√2.
    private func factor(_ frequency: Int) -> Double {
        if side == 4 { return frequency % 2 == 0 ? 0.5 : sin(Double.pi / 8) / 2.0.squareRoot() }
        guard frequency > 0 else { return 1 / 8.0.squareRoot() }
        return 2.0.squareRoot() * cos(Double(frequency) * Double.pi / 16) / 8.0.squareRoot()
    }
}
