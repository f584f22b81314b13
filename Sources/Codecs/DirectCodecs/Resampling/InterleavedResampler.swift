import CCodecs

/// Makes another size of interleaved pixels, while their rows arrive: RGB, or RGBA with straight alpha,
/// whose colours are weighed by their opacity. Used by one thread.
final class InterleavedResampler {
    private let sourceWidth: Int
    private let sourceHeight: Int
    private let targetWidth: Int
    private let targetHeight: Int
    private let channels: Int
    private let columns: FilterTaps
    private let rows: RowTaps
    private let kernels: cpixels_kernels
    private var opaque: RowWindow<UInt8>
    private var weighed: RowWindow<Int16>
    private let blendedCount: Int
    /// A blended row, its channels, and the target's channels.
    private let scratch: UnsafeMutablePointer<Int16>
    private let channelCapacity: Int
    private var nextTarget = 0

    /// - Parameter channels: 3 or 4.
    init(
        horizontal: SampleAxis, vertical: SampleAxis, channels: Int,
        kernels: cpixels_kernels = cpixels_best().pointee
    ) {
        precondition(channels == 3 || channels == 4, "pixels have 3 or 4 channels")
        let block = Int(CPIXELS_BLOCK)
        sourceWidth = horizontal.sourceCount
        sourceHeight = vertical.sourceCount
        targetWidth = horizontal.targetCount
        targetHeight = vertical.targetCount
        self.channels = channels
        self.kernels = kernels
        columns = FilterTaps(vertical, widthMultipleOf: 2)
        rows = RowTaps(horizontal)
        blendedCount = (sourceWidth * channels + block - 1) / block * block
        let kept = columns.width + 1
        opaque = RowWindow(rowCapacity: channels == 3 ? blendedCount : 1, rows: kept)
        weighed = RowWindow(rowCapacity: channels == 4 ? blendedCount : 1, rows: kept)
        channelCapacity = max(sourceWidth + rows.width + 2 * block, rows.paddedCount)
        let count = blendedCount + 2 * channels * channelCapacity
        scratch = .allocate(capacity: count)
        scratch.initialize(repeating: 0, count: count)
    }

    deinit {
        scratch.deallocate()
    }

    /// Takes the next source row: as many pixels as the source is wide.
    func push(_ row: UnsafePointer<UInt8>) {
        if channels == 3 {
            opaque.reserve(1)
            opaque[opaque.end].update(from: row, count: sourceWidth * 3)
            opaque.commit(1)
        } else {
            weighed.reserve(1)
            cpixels_premultiply(row, sourceWidth, weighed[weighed.end])
            weighed.commit(1)
        }
    }

    var hasNextRow: Bool {
        let end = channels == 3 ? opaque.end : weighed.end
        return nextTarget < targetHeight
            && end >= min(Int(columns.starts[nextTarget]) + columns.width, sourceHeight)
    }

    /// Writes the next target row: as many pixels as the target is wide. Only when `hasNextRow`.
    func writeNextRow(to target: UnsafeMutablePointer<UInt8>) {
        blend()
        let source = plane(0)
        let made = plane(channels)
        withUnsafeTemporaryAllocation(
            of: UnsafeMutablePointer<Int16>?.self, capacity: channels
        ) { planes in
            for channel in 0..<channels {
                planes.initializeElement(at: channel, to: source + channel * channelCapacity)
            }
            cpixels_split(scratch, Int32(channels), sourceWidth, planes.baseAddress)
        }
        for channel in 0..<channels {
            rows.filter(
                source + channel * channelCapacity, into: made + channel * channelCapacity,
                with: kernels)
        }
        if channels == 3 {
            kernels.pack_rgb(
                made, made + channelCapacity, made + 2 * channelCapacity, target, targetWidth)
        } else {
            withUnsafeTemporaryAllocation(of: UnsafePointer<Int16>?.self, capacity: 4) { planes in
                for channel in 0..<4 {
                    planes.initializeElement(
                        at: channel, to: UnsafePointer(made + channel * channelCapacity))
                }
                cpixels_unpremultiply(planes.baseAddress, targetWidth, target)
            }
        }
        nextTarget += 1
        if nextTarget < targetHeight {
            let first = Int(columns.starts[nextTarget])
            opaque.drop(before: first)
            weighed.drop(before: first)
        }
    }

    private func plane(_ index: Int) -> UnsafeMutablePointer<Int16> {
        scratch + blendedCount + index * channelCapacity
    }

    private func blend() {
        let start = Int(columns.starts[nextTarget])
        let width = columns.width
        columns.weights.withUnsafeBufferPointer { weights in
            let taps = weights.baseAddress! + nextTarget * width
            if channels == 3 {
                withRows(opaque, from: start) {
                    kernels.blend_bytes($0, taps, width, scratch, blendedCount)
                }
            } else {
                withRows(weighed, from: start) {
                    kernels.blend_words($0, taps, width, scratch, blendedCount)
                }
            }
        }
    }

    /// Calls `body` with the rows that the next target row is made of. Taps beyond the last row have no
    /// weight; any row will do.
    private func withRows<Sample>(
        _ window: borrowing RowWindow<Sample>, from start: Int,
        _ body: (UnsafePointer<UnsafePointer<Sample>?>) -> Void
    ) {
        withUnsafeTemporaryAllocation(
            of: UnsafePointer<Sample>?.self, capacity: columns.width
        ) { rows in
            for tap in 0..<columns.width {
                rows.initializeElement(
                    at: tap, to: UnsafePointer(window[min(start + tap, sourceHeight - 1)]))
            }
            body(rows.baseAddress!)
        }
    }
}
