import CCodecs
import CoefficientJPEGTestKit
import Foundation
import Testing

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
