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

    /// - Parameters:
    ///   - source: Width and height of what arrives.
    ///   - channels: 3 or 4.
    ///   - depth: Bits of a sample, 8 or 16.
    ///   - target: Room for the target's pixels, rows without padding.
    package init(
        source: (width: Int, height: Int), width: Int, height: Int, channels: Int, depth: Int,
        into target: UnsafeMutableRawPointer
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
        self.target = target
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
                target += width * channels
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
                target += 2 * width * channels
            }
        }
    }
}
