import CCodecs

/// Makes another size of samples of any depth, in floating-point numbers, while their rows arrive: of a
/// plane, or of pixels with premultiplied opacity. Used by one thread.
///
/// Each source row is added to all target rows that it has weight in, so that only those few are kept.
package final class FloatResampler {
    /// The content of each place of a row.
    package enum Lanes: Int {
        /// A sample of a plane.
        case one = 1
        /// Red, green, blue and opacity.
        case four = 4
    }

    private let lanes: Int
    private let sourceHeight: Int
    private let targetWidth: Int
    private let targetHeight: Int
    private let columns: FilterTaps
    private let rows: FilterTaps
    private let rowWeights: [Float]
    /// Numbers of a row, filled up to whole quads, and room behind them that taps without weight read.
    private let rowCapacity: Int
    /// The row that arrives, then a ring of sums.
    private let memory: UnsafeMutablePointer<Float>
    private let ringCount: Int
    private var sourceRow = 0
    private var nextTarget = 0
    /// The target row behind the last one that has been begun.
    private var begun = 0

    package init(horizontal: SampleAxis, vertical: SampleAxis, lanes: Lanes) {
        self.lanes = lanes.rawValue
        sourceHeight = vertical.sourceCount
        targetWidth = horizontal.targetCount
        targetHeight = vertical.targetCount
        columns = FilterTaps(vertical, widthMultipleOf: 1)
        rows = FilterTaps(horizontal, widthMultipleOf: 4)
        rowWeights = rows.weights.map { Float($0) / Float(CPIXELS_TAP_ONE) }
        let count = horizontal.sourceCount * lanes.rawValue
        rowCapacity = (count + 3) / 4 * 4 + rows.width * lanes.rawValue
        ringCount = Self.greatestOverlap(columns)
        memory = .allocate(capacity: (ringCount + 1) * rowCapacity)
        memory.initialize(repeating: 0, count: (ringCount + 1) * rowCapacity)
    }

    deinit {
        memory.deallocate()
    }

    /// Takes the next source row, which `write` writes.
    package func push(_ write: (UnsafeMutablePointer<Float>) -> Void) {
        precondition(sourceRow < sourceHeight, "a row too many")
        write(memory)
        while begun < targetHeight, Int(columns.starts[begun]) <= sourceRow {
            sums(begun).update(repeating: 0, count: rowCapacity)
            begun += 1
        }
        for target in nextTarget..<begun {
            let tap = sourceRow - Int(columns.starts[target])
            guard tap < columns.width else { continue }
            let weight = columns.weights[target * columns.width + tap]
            guard weight != 0 else { continue }
            cpixels_add_row(
                memory, Float(weight) / Float(CPIXELS_TAP_ONE), rowCapacity / 4, sums(target))
        }
        sourceRow += 1
    }

    /// Whether the rows so far are enough for the next target row. All that can be written have to be before
    /// the next row is taken.
    package var hasNextRow: Bool {
        nextTarget < targetHeight && sourceRow >= Int(columns.starts[nextTarget]) + columns.width
    }

    /// Writes the next target row: as many samples or pixels as the target is wide. Only when `hasNextRow`.
    package func writeNextRow(to target: UnsafeMutablePointer<Float>) {
        let source = UnsafePointer(sums(nextTarget))
        let width = rows.width
        rows.starts.withUnsafeBufferPointer { starts in
            rowWeights.withUnsafeBufferPointer { weights in
                for x in 0..<targetWidth {
                    let from = source + Int(starts[x]) * lanes
                    let taps = weights.baseAddress! + x * width
                    if lanes == 1 {
                        target[x] = Self.sample(from, taps, width)
                    } else {
                        Self.writePixel(from, taps, width, to: target + 4 * x)
                    }
                }
            }
        }
        nextTarget += 1
    }

    private static func sample(
        _ source: UnsafePointer<Float>, _ taps: UnsafePointer<Float>, _ count: Int
    ) -> Float {
        var sum = SIMD4<Float>.zero
        for tap in stride(from: 0, to: count, by: 4) {
            sum += quad(source + tap) * quad(taps + tap)
        }
        return sum.sum()
    }

    private static func writePixel(
        _ source: UnsafePointer<Float>, _ taps: UnsafePointer<Float>, _ count: Int,
        to target: UnsafeMutablePointer<Float>
    ) {
        var sum = SIMD4<Float>.zero
        for tap in 0..<count { sum += quad(source + 4 * tap) * taps[tap] }
        UnsafeMutableRawPointer(target).storeBytes(of: sum, as: SIMD4<Float>.self)
    }

    @inline(__always)
    private static func quad(_ numbers: UnsafePointer<Float>) -> SIMD4<Float> {
        UnsafeRawPointer(numbers).loadUnaligned(as: SIMD4<Float>.self)
    }

    private func sums(_ target: Int) -> UnsafeMutablePointer<Float> {
        memory + (1 + target % ringCount) * rowCapacity
    }

    /// The maximum number of target rows that one source row contributes to.
    private static func greatestOverlap(_ taps: FilterTaps) -> Int {
        var greatest = 1
        var first = 0
        for target in taps.starts.indices {
            while Int(taps.starts[first]) + taps.width <= Int(taps.starts[target]) { first += 1 }
            greatest = max(greatest, target - first + 1)
        }
        return greatest
    }
}

/// Pixels of 16 bits on their way through a ``FloatResampler`` of four lanes.
enum DeepPixels {
    /// A row of RGB, or of RGBA with straight opacity, as the resampler takes it.
    static func premultiply(
        _ row: UnsafePointer<UInt16>, width: Int, channels: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        var (source, place) = (row, UnsafeMutableRawPointer(target))
        for _ in 0..<width {
            var pixel = SIMD4(Float(source[0]), Float(source[1]), Float(source[2]), 65535)
            if channels == 4 { pixel *= Float(source[3]) / 65535 }
            place.storeBytes(of: pixel, as: SIMD4<Float>.self)
            source += channels
            place += MemoryLayout<SIMD4<Float>>.stride
        }
    }

    static func unpremultiply(
        _ row: UnsafePointer<Float>, width: Int, channels: Int,
        into target: UnsafeMutablePointer<UInt16>
    ) {
        var (source, place) = (UnsafeRawPointer(row), target)
        for _ in 0..<width {
            let pixel = source.loadUnaligned(as: SIMD4<Float>.self)
            let factor: Float = pixel.w > 0 ? 65535 / pixel.w : 0
            let straight = (pixel * SIMD4(factor, factor, factor, 1))
                .clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 65535))
            for channel in 0..<channels { place[channel] = UInt16(straight[channel] + 0.5) }
            source += MemoryLayout<SIMD4<Float>>.stride
            place += channels
        }
    }
}
