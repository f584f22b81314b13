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

/// The source rows that are still needed: a ring of row buffers that grows when more are.
///
/// Rows begin as zeros, so that what a decoder leaves unwritten is still defined.
struct RowWindow<Sample: FixedWidthInteger>: ~Copyable {
    /// Samples from the start of a row that may be written and read.
    let rowCapacity: Int
    /// The row behind the last one that is there.
    private(set) var end = 0
    /// The first row that is still needed.
    private var begin = 0
    private var slots: [UnsafeMutablePointer<Sample>] = []
    private var blocks: [UnsafeMutablePointer<Sample>] = []

    init(rowCapacity: Int, rows: Int) {
        self.rowCapacity = rowCapacity
        grow(by: max(1, rows))
    }

    deinit {
        for block in blocks { block.deallocate() }
    }

    /// The memory of row `index`, which must be needed still, or is to be written.
    subscript(index: Int) -> UnsafeMutablePointer<Sample> { slots[index % slots.count] }

    /// Makes room for `count` more rows behind `end`.
    mutating func reserve(_ count: Int) {
        let missing = end - begin + count - slots.count
        if missing > 0 { grow(by: max(missing, slots.count / 2)) }
    }

    /// Tells that the `count` rows behind `end` have been written.
    mutating func commit(_ count: Int) { end += count }

    /// Tells that rows before `index` are not needed any more.
    mutating func drop(before index: Int) { begin = min(max(begin, index), end) }

    private mutating func grow(by count: Int) {
        let block = UnsafeMutablePointer<Sample>.allocate(capacity: count * rowCapacity)
        block.initialize(repeating: 0, count: count * rowCapacity)
        blocks.append(block)
        let fresh = (0..<count).map { block + $0 * rowCapacity }
        guard !slots.isEmpty else {
            slots = fresh
            return
        }
        // The rows there are keep their memory under the new numbering.
        let capacity = slots.count + count
        var ordered = [UnsafeMutablePointer<Sample>?](repeating: nil, count: capacity)
        var spare = fresh
        for index in begin..<begin + slots.count {
            let slot = slots[index % slots.count]
            if index < end { ordered[index % capacity] = slot } else { spare.append(slot) }
        }
        slots = ordered.map { $0 ?? spare.removeLast() }
    }
}

/// Taps in the order in which `filter_row` reads them; for groups of neighbouring target samples.
struct RowTaps: Sendable {
    let width: Int
    /// The target's length, filled up to whole groups.
    let paddedCount: Int
    let starts: [Int32]
    let weights: [Int16]

    /// Where the chunk of each of eight neighbours is.
    private static let places = [0, 2, 4, 6, 1, 3, 5, 7]

    init(_ axis: SampleAxis) {
        let group = Int(CPIXELS_GROUP)
        let taps = FilterTaps(axis, widthMultipleOf: group)
        width = taps.width
        let paddedCount = (axis.targetCount + group - 1) / group * group
        self.paddedCount = paddedCount
        var starts = taps.starts
        // The samples that fill the last group are made with no weight.
        starts.append(contentsOf: repeatElement(0, count: paddedCount - axis.targetCount))
        self.starts = starts
        let width = taps.width
        weights = [Int16](unsafeUninitializedCapacity: paddedCount * width) { ordered, count in
            ordered.initialize(repeating: 0)
            taps.weights.withUnsafeBufferPointer { weights in
                for target in 0..<axis.targetCount {
                    let member = target % group
                    var place = (target - member) * width + Self.places[member] * group
                    for tap in stride(from: 0, to: width, by: group) {
                        for index in 0..<group {
                            ordered[place + index] = weights[target * width + tap + index]
                        }
                        place += group * group
                    }
                }
            }
            count = paddedCount * width
        }
    }
}
