import CCodecs

/// The common part of the block decoders that calculate with fractions.
protocol FloatBlock: BlockDecoder {
    /// The factors of the coefficients of each row, and of each column.
    static var factors: [Float] { get }
    static var scale: Float { get }
    /// The last place of the zigzag order whose value matters.
    static var lastPlace: Int { get }

    /// Makes samples of coefficients, which lie column by column.
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: BlockPlane,
        to samples: UnsafeMutablePointer<UInt8>)
}

extension FloatBlock {
    /// The slots of the scratch that take coefficients; one more takes those that are not used.
    private static var slots: Int { side * side }

    static func step(row: Int, column: Int) -> BlockStep {
        guard row < side, column < side else { return BlockStep(slot: Int32(slots)) }
        return BlockStep(
            slot: Int32(column * side + row), factor: scale * factors[row] * factors[column])
    }

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let isPlain = read(&reader, &plane, damage: &damage)
        write(plane.block, isPlain: isPlain, to: samples)
    }

    @inline(__always)
    static func make(
        of coefficients: UnsafePointer<Int16>, at places: UnsafeBufferPointer<UInt8>,
        _ plane: BlockPlane, to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.product(of: Int(coefficients[0]), damage: &damage)
        let values = start(plane, mean)
        var sum: Int16 = 0
        for index in 1..<places.count {
            let value = coefficients[index]
            let step = plane.steps[Int(places[index])]
            values[Int(step.slot)] = Float(value) * step.factor
            sum |= value
        }
        write(plane, isPlain: sum == 0, to: samples)
    }

    /// The scratch, in which slot 0 has the mean.
    @inline(__always)
    private static func start(_ plane: BlockPlane, _ mean: Int) -> UnsafeMutablePointer<Float> {
        let values = plane.scratch.assumingMemoryBound(to: Float.self)
        values.update(repeating: 0, count: slots)
        values[0] = Float(mean) * 0.125
        return values
    }

    /// - Parameter isPlain: Whether there is only the mean.
    @inline(__always)
    private static func write(
        _ plane: BlockPlane, isPlain: Bool, to samples: UnsafeMutablePointer<UInt8>
    ) {
        if isPlain {
            fill(plane, samples)
        } else {
            transform(plane.scratch.assumingMemoryBound(to: Float.self), plane, to: samples)
        }
    }

    /// Reads a block into the scratch. True when there is only the mean.
    @inline(__always)
    private static func read(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder, damage: inout Int
    ) -> Bool {
        let mean = plane.readMean(&reader, damage: &damage)
        let values = start(plane.block, mean)
        let steps = plane.block.steps
        var sum = 0
        let place = reader.readValues(plane.alternating, through: lastPlace) { place, value in
            let step = steps[place]
            values[Int(step.slot)] += Float(value) * step.factor
            sum |= value
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        return sum == 0
    }

    @inline(__always)
    private static func fill(_ plane: BlockPlane, _ samples: UnsafeMutablePointer<UInt8>) {
        let mean = plane.scratch.load(as: Float.self).rounded(.toNearestOrEven)
        let value = sample(Int(mean))
        for row in 0..<side {
            (samples + row &* plane.bytesPerRow).update(repeating: value, count: side)
        }
    }
}

/// A block as 4 × 4 samples made of its 16 lowest frequencies.
///
/// An orthonormal transform of 8 × 8 becomes one of 4 × 4 by scaling with 4/8. Of the inverse, in each
/// direction
///
///     x0, x3 = ½·c0 + ½·c2 ± (a·c1 + b·c3)    a = cos(π/8)/√2
///     x1, x2 = ½·c0 - ½·c2 ± (b·c1 - a·c3)    b = sin(π/8)/√2
///
/// the factors ½ and b are in the coefficients already; a/b is 1 + √2.
enum LowBlock4: FloatBlock {
    static let side = 4
    static let lastPlace = 24
    static let factors: [Float] = [0.5, 0.270598050, 0.5, 0.270598050]
    static let scale: Float = 0.5

    @inline(__always)
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: BlockPlane,
        to samples: UnsafeMutablePointer<UInt8>
    ) {
        plane.kernels.inverse_4(coefficients, samples, plane.bytesPerRow)
    }
}

/// A block as 8 × 8 samples: for the chroma of 4:2:0 at 1/2.
///
/// The transform is that of Arai, Agui and Nakajima: most of the factors are in the coefficients
/// already, and five multiplications remain in each direction.
enum FullBlock: FloatBlock {
    static let side = 8
    static let lastPlace = 63
    /// √2 · cos(kπ/16), and 1 for k = 0.
    static let factors: [Float] = [
        1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379,
    ]
    static let scale: Float = 0.125

    @inline(__always)
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: BlockPlane,
        to samples: UnsafeMutablePointer<UInt8>
    ) {
        plane.kernels.inverse_8(coefficients, samples, plane.bytesPerRow)
    }
}
