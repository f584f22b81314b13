import CCodecs

/// Averages the pixels of a much larger picture while its rows arrive: RGBA with straight alpha, whose
/// colours are weighed by their opacity. Used by one thread.
///
/// Each pixel counts by the area that it shares with that of the target's, so that any sizes fit.
package final class AreaReducer {
    /// The target's pixels once all rows are there: red, green and blue times opacity, and opacity, on the
    /// scale of the source's samples. Belongs to this object.
    package let pixels: UnsafeMutablePointer<Float>
    /// Bytes at ``pixels``.
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

    /// Takes the next row of the source.
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
