import CCodecs

/// Makes a smaller size of interleaved pixels of 8 or 16 bits, while their rows arrive: RGB, or RGBA with
/// straight opacity, by which colours are weighed. Used by one thread.
package final class PixelReducer {
    private enum Resampler {
        case bytes(InterleavedResampler)
        /// And a target row on its way.
        case words(FloatResampler, UnsafeMutablePointer<Float>)
    }

    private let resampler: Resampler
    private let sourceWidth: Int
    private let width: Int
    private let channels: Int
    private var target: UnsafeMutableRawPointer
    private let step: Int

    /// - Parameters:
    ///   - source: Width and height of what arrives.
    ///   - channels: 3 or 4.
    ///   - depth: Bits of a sample, 8 or 16.
    ///   - isUpsideDown: Whether the rows arrive from the bottom.
    ///   - target: Room for the target's pixels, rows without padding.
    package init(
        source: (width: Int, height: Int), width: Int, height: Int, channels: Int, depth: Int,
        isUpsideDown: Bool = false, into target: UnsafeMutableRawPointer
    ) {
        let horizontal = SampleAxis(sourceCount: source.width, targetCount: width)
        let vertical = SampleAxis(sourceCount: source.height, targetCount: height)
        resampler =
            depth == 8
            ? .bytes(
                InterleavedResampler(
                    horizontal: horizontal, vertical: vertical, channels: channels))
            : .words(
                FloatResampler(horizontal: horizontal, vertical: vertical, lanes: .four),
                .allocate(capacity: 4 * width))
        sourceWidth = source.width
        self.width = width
        self.channels = channels
        // The filter is symmetric, so that what is stored from the bottom may be resampled from there.
        let rowBytes = width * channels * depth / 8
        step = isUpsideDown ? -rowBytes : rowBytes
        self.target = isUpsideDown ? target + (height - 1) * rowBytes : target
    }

    deinit {
        if case .words(_, let made) = resampler { made.deallocate() }
    }

    /// Takes the next source row, and writes the target rows that it makes possible.
    package func push(_ row: UnsafeRawPointer) {
        switch resampler {
        case .bytes(let resampler):
            resampler.push(row.assumingMemoryBound(to: UInt8.self))
            while resampler.hasNextRow {
                resampler.writeNextRow(to: target.assumingMemoryBound(to: UInt8.self))
                target += step
            }
        case .words(let resampler, let made):
            resampler.push {
                DeepPixels.premultiply(
                    row.assumingMemoryBound(to: UInt16.self), width: sourceWidth,
                    channels: channels, into: $0)
            }
            while resampler.hasNextRow {
                resampler.writeNextRow(to: made)
                DeepPixels.unpremultiply(
                    made, width: width, channels: channels,
                    into: target.assumingMemoryBound(to: UInt16.self))
                target += step
            }
        }
    }
}

/// Averages the pixels of a much larger picture while its rows arrive: RGBA with straight alpha, whose
/// colours are weighed by their opacity. Used by one thread.
///
/// Each pixel counts by the area that it shares with that of the target's, so that any sizes fit.
package final class AreaReducer {
    /// The target's pixels once all rows are there: red, green and blue times opacity, and opacity, on the
    /// scale of the source's samples. Belongs to this object.
    package let pixels: UnsafeMutablePointer<Float>
    package var byteCount: Int { sampleCount * MemoryLayout<Float>.stride }

    private let sourceWidth: Int
    private let sourceHeight: Int
    private let width: Int
    private let height: Int
    private let isDeep: Bool
    /// A source row that is averaged.
    private let line: UnsafeMutablePointer<Float>
    private var row = 0

    /// - Parameters:
    ///   - width: Of the target, at most a half of the source's; so is `height`.
    ///   - isDeep: Whether samples have 16 bits, not 8.
    package init(
        sourceWidth: Int, sourceHeight: Int, width: Int, height: Int, isDeep: Bool
    ) {
        precondition(width > 0 && height > 0, "a picture without pixels")
        precondition(2 * width <= sourceWidth && 2 * height <= sourceHeight, "no reduction")
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.width = width
        self.height = height
        self.isDeep = isDeep
        pixels = Self.zeros(4 * width * height)
        line = Self.zeros(4 * width)
    }

    deinit {
        pixels.deallocate()
        line.deallocate()
    }

    package func push(_ source: UnsafeRawPointer) {
        precondition(row < sourceHeight, "a row too many")
        cpixels_average_row(source, sourceWidth, isDeep, line, width)
        // Where the row lies among those of the target, and how much of it in the first of two.
        let scale = Double(height) / Double(sourceHeight)
        let (from, to) = (Double(row) * scale, Double(row + 1) * scale)
        let first = min(Int(from), height - 1)
        let behind = max(0, to - Double(first + 1))
        add(to - from - behind, first)
        if behind > 0, first + 1 < height { add(behind, first + 1) }
        row += 1
    }

    private func add(_ weight: Double, _ target: Int) {
        cpixels_add_row(line, Float(weight), width, pixels + 4 * width * target)
    }

    private var sampleCount: Int { 4 * width * height }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Float>.stride, alignment: 16
        ).bindMemory(to: Float.self, capacity: count)
        memory.initialize(repeating: 0, count: count)
        return memory
    }
}
