/// A block as 2 × 2 samples, each the mean of a quarter of the block: bit for bit what libjpeg makes of
/// it.
///
/// The mean of four samples of a cosine is 0 for even frequencies, and for the odd ones, in the scale of
/// the transform times √8, √2 · Σ cos((2x + 1)uπ/16) with x in 0...3. libjpeg takes these weights with
/// 13 binary places, sums up columns, rounds to 2 places and sums up rows.
enum AveragedBlock: BlockDecoder {
    static let side = 2
    /// 3.6245, -1.2728, 0.8504 and -0.7210.
    private static let weights: [Int32] = [0, 29_692, 0, -10_426, 0, 6_967, 0, -5_906]

    /// Slots 0...4 take the first row of the columns 0, 1, 3, 5 and 7, slots 5...9 their odd rows; slot
    /// 10 takes what is not used.
    static func step(row: Int, column: Int) -> BlockStep {
        let columns: [Int: Int32] = [0: 0, 1: 1, 3: 2, 5: 3, 7: 4]
        guard let slot = columns[column], row == 0 || row % 2 == 1 else {
            return BlockStep(slot: 10)
        }
        return row == 0
            ? BlockStep(slot: slot, weight: 1 << 15)
            : BlockStep(slot: slot + 5, weight: weights[row])
    }

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.readMean(&reader, damage: &damage)
        let sums = start(plane.block, mean)
        let steps = plane.block.steps
        var flags = 0
        let place = reader.readValues(plane.alternating, through: 63) { place, value in
            add(value, steps[place], to: sums, damage: &flags)
        }
        damage |= flags
        if place != 64 { damage |= 1 }
        write(sums, plane.block, to: samples, damage: &damage)
    }

    @inline(__always)
    static func make(
        of coefficients: UnsafePointer<Int16>, at places: UnsafeBufferPointer<UInt8>,
        _ plane: BlockPlane, to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.product(of: Int(coefficients[0]), damage: &damage)
        let sums = start(plane, mean)
        for index in 1..<places.count {
            let step = plane.steps[Int(places[index])]
            add(Int(coefficients[index]), step, to: sums, damage: &damage)
        }
        write(sums, plane, to: samples, damage: &damage)
    }

    @inline(__always)
    private static func start(_ plane: BlockPlane, _ mean: Int) -> UnsafeMutablePointer<Int> {
        let sums = plane.scratch.assumingMemoryBound(to: Int.self)
        (sums + 1).update(repeating: 0, count: 9)
        sums[0] = mean &<< 15
        return sums
    }

    @inline(__always)
    private static func add(
        _ value: Int, _ step: BlockStep, to sums: UnsafeMutablePointer<Int>, damage: inout Int
    ) {
        let product = value &* Int(step.quantum)
        // No picture has more; and libjpeg's calculation with vectors would not bear it.
        damage |= (product &+ 2_048) & ~4_095
        sums[Int(step.slot)] &+= product &* Int(step.weight)
    }

    @inline(__always)
    private static func write(
        _ sums: UnsafeMutablePointer<Int>, _ plane: BlockPlane,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let below = samples + plane.bytesPerRow
        let upper = row(sums, 1)
        let lower = row(sums, -1)
        damage |=
            beyond(upper.left) | beyond(upper.right) | beyond(lower.left) | beyond(lower.right)
        samples[0] = sample(upper.left)
        samples[1] = sample(upper.right)
        below[0] = sample(lower.left)
        below[1] = sample(lower.right)
    }

    @inline(__always)
    private static func row(_ sums: UnsafeMutablePointer<Int>, _ sign: Int) -> (
        left: Int, right: Int
    ) {
        let mean = column(sums, 0, sign) &<< 15
        let odd =
            column(sums, 1, sign) &* 29_692 &- column(sums, 2, sign) &* 10_426
            &+ column(sums, 3, sign) &* 6_967 &- column(sums, 4, sign) &* 5_906
        let half = 1 << 19
        return ((mean &+ odd &+ half) &>> 20, (mean &- odd &+ half) &>> 20)
    }

    @inline(__always)
    private static func column(_ sums: UnsafeMutablePointer<Int>, _ index: Int, _ sign: Int) -> Int
    {
        (sums[index] &+ sign &* sums[index &+ 5] &+ 1 << 12) &>> 13
    }

    /// Something else than 0 where libjpeg's limiting to 0...255 would begin anew.
    @inline(__always)
    private static func beyond(_ value: Int) -> Int {
        (value &+ 512) & ~1_023
    }
}

/// A block as 2 × 2 samples made of its four lowest frequencies.
///
/// An orthonormal transform of 8 × 8 becomes one of 2 × 2 by scaling with 2/8; its inverse is
/// 1/2 · (c00 ± c01 ± c10 ± c11). Together that is a division by 8.
enum LowBlock2: BlockDecoder {
    static let side = 2

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.readMean(&reader, damage: &damage)
        let values = plane.block.scratch.assumingMemoryBound(to: Int32.self)
        (values + 1).update(repeating: 0, count: 4)
        let place = reader.readValues(plane.alternating, through: 4) { place, value in
            values[place] &+= Int32(truncatingIfNeeded: value)
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        write(mean, Int(values[1]), Int(values[2]), Int(values[4]), plane.block, to: samples)
    }

    @inline(__always)
    static func make(
        of coefficients: UnsafePointer<Int16>, at places: UnsafeBufferPointer<UInt8>,
        _ plane: BlockPlane, to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.product(of: Int(coefficients[0]), damage: &damage)
        write(
            mean, Int(coefficients[1]), Int(coefficients[2]), Int(coefficients[3]), plane,
            to: samples)
    }

    /// - Parameters:
    ///   - mean: Multiplied with its step, unlike the others, which lie at the places 1, 2 and 4.
    @inline(__always)
    private static func write(
        _ mean: Int, _ first: Int, _ second: Int, _ fourth: Int, _ plane: BlockPlane,
        to samples: UnsafeMutablePointer<UInt8>
    ) {
        // Half is added before the division.
        let mean = mean &+ 4
        let horizontal = first &* Int(plane.steps[1].quantum)
        let vertical = second &* Int(plane.steps[2].quantum)
        let diagonal = fourth &* Int(plane.steps[4].quantum)
        let below = samples + plane.bytesPerRow
        let (left, right) = (mean &+ horizontal, mean &- horizontal)
        let (sum, difference) = (vertical &+ diagonal, vertical &- diagonal)
        samples[0] = sample((left &+ sum) &>> 3)
        samples[1] = sample((right &+ difference) &>> 3)
        below[0] = sample((left &- sum) &>> 3)
        below[1] = sample((right &- difference) &>> 3)
    }
}
