/// A plane of a frame, or of a part of it. Its samples belong to the frame.
struct AVIFPlane {
    let samples: UnsafeRawPointer
    let bytesPerRow: Int
    /// Whether samples have 16 bits.
    let isDeep: Bool
    /// What the picture measures in samples; it may end within the last one.
    let width: Double
    let height: Double
    /// Whether a sample stands for two pixels side by side, or one above the other.
    let isHalvedAcross: Bool
    let isHalvedDown: Bool

    var columnCount: Int { Int(width.rounded(.up)) }
    var rowCount: Int { Int(height.rounded(.up)) }

    func row(_ index: Int) -> UnsafeRawPointer { samples + index * bytesPerRow }
}

/// A plane while it is made smaller, a target row after the other.
final class AVIFPlaneReduction {
    /// Rows of bytes that are handed on at once.
    private static let stripHeight = 16

    private enum Work {
        /// Samples of 8 bits, in integers, by way of a target row in 64ths of samples.
        case bytes(PlaneResampler, UnsafeMutablePointer<Int16>)
        case words(FloatResampler)
    }

    private let plane: AVIFPlane
    private let width: Int
    private let work: Work
    /// The next row of the plane.
    private var next = 0

    /// - Parameter width: That of the target; so is `height`.
    init(_ plane: AVIFPlane, width: Int, height: Int) {
        self.plane = plane
        self.width = width
        let horizontal = SampleAxis(
            sourceCount: plane.columnCount, extent: plane.width, targetCount: width,
            isHalved: plane.isHalvedAcross)
        let vertical = SampleAxis(
            sourceCount: plane.rowCount, extent: plane.height, targetCount: height,
            isHalved: plane.isHalvedDown)
        if plane.isDeep {
            work = .words(
                FloatResampler(horizontal: horizontal, vertical: vertical, lanes: .one))
        } else {
            let resampler = PlaneResampler(
                horizontal: horizontal, vertical: vertical, rowCapacity: plane.columnCount,
                stripHeight: Self.stripHeight)
            work = .bytes(resampler, .allocate(capacity: resampler.targetRowCapacity))
        }
    }

    deinit {
        if case .bytes(_, let made) = work { made.deallocate() }
    }

    /// Writes the next target row, on the scale of the plane's samples.
    func writeNextRow(to target: UnsafeMutablePointer<Float>) {
        switch work {
        case .bytes(let resampler, let made):
            while !resampler.hasNextRow { pushStrip(to: resampler) }
            resampler.writeNextRow(to: made)
            for x in 0..<width { target[x] = Float(made[x]) / 64 }
        case .words(let resampler):
            while !resampler.hasNextRow { pushRow(to: resampler) }
            resampler.writeNextRow(to: target)
        }
    }

    private func pushStrip(to resampler: PlaneResampler) {
        let count = min(Self.stripHeight, plane.rowCount - next)
        resampler.reserve(count) { index, target in
            let samples = plane.row(next + index).assumingMemoryBound(to: UInt8.self)
            target.update(from: samples, count: plane.columnCount)
        }
        resampler.commit(count)
        next += count
    }

    private func pushRow(to resampler: FloatResampler) {
        let samples = plane.row(next).assumingMemoryBound(to: UInt16.self)
        resampler.push { target in
            for x in 0..<plane.columnCount { target[x] = Float(samples[x]) }
        }
        next += 1
    }
}
