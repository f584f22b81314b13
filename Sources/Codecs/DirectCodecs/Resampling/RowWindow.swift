import CCodecs

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
