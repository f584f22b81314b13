import CCodecs

/// Makes rows of another size of one plane of bytes, while its rows arrive.
///
/// Rows are filtered down the columns first, all samples of a row alike, and only those that become
/// target rows along the row. What is kept is as many source rows as one target row is made of.
/// Used by one thread.
final class PlaneResampler {
    /// Samples behind the end of a row that are read in whole blocks, without weight.
    private static let slack = 2 * Int(CPIXELS_BLOCK)

    /// Bytes from the start of each row that may be written.
    let rowCapacity: Int
    private let targetHeight: Int
    private let columns: FilterTaps
    private let rows: RowTaps
    private let sourceHeight: Int
    private let kernels: cpixels_kernels
    private var window: RowWindow<UInt8>
    private let blended: UnsafeMutablePointer<Int16>
    private let blendedCount: Int
    private let inputs: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    private var nextTarget = 0

    /// - Parameters:
    ///   - rowCapacity: Bytes of a row that a decoder writes: its samples, and padding that means nothing.
    ///   - stripHeight: Rows that arrive at once, at most.
    init(
        horizontal: SampleAxis, vertical: SampleAxis, rowCapacity: Int, stripHeight: Int,
        kernels: cpixels_kernels = cpixels_best().pointee
    ) {
        let block = Int(CPIXELS_BLOCK)
        columns = FilterTaps(vertical, widthMultipleOf: 2)
        rows = RowTaps(horizontal)
        sourceHeight = vertical.sourceCount
        targetHeight = vertical.targetCount
        self.kernels = kernels
        self.rowCapacity = max(rowCapacity, horizontal.sourceCount)
        blendedCount = (horizontal.sourceCount + block - 1) / block * block
        window = RowWindow(
            rowCapacity: max(self.rowCapacity, blendedCount),
            rows: min(columns.width + 2 * stripHeight, sourceHeight + stripHeight))
        blended = .allocate(capacity: blendedCount + rows.width + Self.slack)
        blended.initialize(repeating: 0, count: blendedCount + rows.width + Self.slack)
        inputs = .allocate(capacity: columns.width)
        inputs.initialize(repeating: nil, count: columns.width)
    }

    deinit {
        blended.deallocate()
        inputs.deallocate()
    }

    /// Samples that `writeNextRow` writes: the target's width filled up to whole groups.
    var targetRowCapacity: Int { rows.paddedCount }

    /// Calls `body` with the memory of each of the next `count` source rows, to be written now.
    func reserve(_ count: Int, _ body: (Int, UnsafeMutablePointer<UInt8>) -> Void) {
        window.reserve(count)
        for index in 0..<count { body(index, window[window.end + index]) }
    }

    /// Tells that the next `count` source rows are written.
    func commit(_ count: Int) { window.commit(count) }

    /// Whether the rows so far are enough for the next target row.
    var hasNextRow: Bool {
        nextTarget < targetHeight
            && window.end >= min(Int(columns.starts[nextTarget]) + columns.width, sourceHeight)
    }

    /// Writes the next target row, in Q6, to `target`, which has room for `targetRowCapacity` samples.
    /// Only when `hasNextRow`.
    func writeNextRow(to target: UnsafeMutablePointer<Int16>) {
        let start = Int(columns.starts[nextTarget])
        for tap in 0..<columns.width {
            // Taps beyond the last row have no weight; any row will do.
            inputs[tap] = UnsafePointer(window[min(start + tap, sourceHeight - 1)])
        }
        columns.weights.withUnsafeBufferPointer { weights in
            kernels.blend_bytes(
                inputs, weights.baseAddress! + nextTarget * columns.width, columns.width, blended,
                blendedCount)
        }
        rows.filter(blended, into: target, with: kernels)
        nextTarget += 1
        if nextTarget < targetHeight { window.drop(before: Int(columns.starts[nextTarget])) }
    }
}

extension RowTaps {
    /// Makes a target row of a source row.
    func filter(
        _ row: UnsafePointer<Int16>, into target: UnsafeMutablePointer<Int16>,
        with kernels: cpixels_kernels
    ) {
        starts.withUnsafeBufferPointer { starts in
            weights.withUnsafeBufferPointer { weights in
                kernels.filter_row(
                    row, starts.baseAddress, weights.baseAddress, width, target, paddedCount)
            }
        }
    }
}
