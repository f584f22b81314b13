import CCodecs

/// What the blocks of one plane become samples with, and where these go.
///
/// The pointers are those of `PlaneMemory`, which lives longer.
struct BlockPlane {
    let size: PlaneSize
    let kind: BlockKind
    /// Blocks in a unit, side by side and one below the other.
    let across: Int
    let down: Int
    /// `BlockStep.count` of them.
    let steps: UnsafePointer<BlockStep>
    /// `scratchBytes`, aligned to 64.
    let scratch: UnsafeMutableRawPointer
    /// `down` rows of blocks.
    let strip: UnsafeMutablePointer<UInt8>
    let bytesPerRow: Int
    let kernels: cpixels_kernels

    /// 64 coefficients and one that is not used, of 4 bytes; or 11 sums of 8 bytes.
    static let scratchBytes = 4 * 65

    /// A mean multiplied with its step. Sets `damage` when it is one that no picture has.
    @inline(__always)
    func product(of mean: Int, damage: inout Int) -> Int {
        let product = mean &* Int(steps[0].quantum)
        damage |= (product &+ 2_048) & ~4_095
        return product
    }
}

/// The memory that the planes of a picture are made in, strip by strip.
final class PlaneMemory {
    let planes: [BlockPlane]
    private let memory: [UnsafeMutableRawPointer]

    /// - Parameter quantisation: The steps of each component, in zigzag order.
    init(layout: PlaneLayout, quantisation: [[UInt8]]) {
        var memory: [UnsafeMutableRawPointer] = []
        func zeros(_ byteCount: Int) -> UnsafeMutableRawPointer {
            let new = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
            new.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            memory.append(new)
            return new
        }
        let kernels = cpixels_best().pointee
        planes = zip(layout.planes, quantisation).map { plane, quantisation in
            let kind = BlockKind(side: plane.side, reduction: layout.reduction)
            let steps = zeros(BlockStep.count * MemoryLayout<BlockStep>.stride)
                .bindMemory(to: BlockStep.self, capacity: BlockStep.count)
            steps.update(from: kind.steps(quantisation: quantisation), count: BlockStep.count)
            // Whole units: blocks that stand out to the right and below are written too.
            let bytesPerRow = layout.unitsPerRow * plane.across * plane.side
            let strip = zeros(bytesPerRow * plane.down * plane.side)
            return BlockPlane(
                size: plane.size, kind: kind, across: plane.across, down: plane.down,
                steps: steps, scratch: zeros(BlockPlane.scratchBytes),
                strip: strip.assumingMemoryBound(to: UInt8.self), bytesPerRow: bytesPerRow,
                kernels: kernels)
        }
        self.memory = memory
    }

    deinit {
        for pointer in memory { pointer.deallocate() }
    }
}
