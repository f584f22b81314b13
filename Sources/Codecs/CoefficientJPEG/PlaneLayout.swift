import CCodecs

/// The layout of a frame's blocks in the planes of a reduced picture.
struct PlaneLayout {
    struct Plane {
        let size: PlaneSize
        /// Samples along a side of a reduced block: 1, 2, 4 or 8.
        let side: Int
        /// Blocks in a unit, side by side and one below the other.
        let across: Int
        let down: Int
        /// Blocks that the picture covers, in a row and in a column.
        let columns: Int
        let rows: Int
    }

    let reduction: JPEGReduction
    let unitsPerRow: Int
    let unitRows: Int
    let planes: [Plane]

    var blocksPerUnit: Int { planes.reduce(0) { $0 + $1.across * $1.down } }

    /// - Parameter enlargesChroma: Whether a component that has half the samples is reduced by half as much.
    init(frame: FrameHeader, reduction: JPEGReduction, enlargesChroma: Bool) {
        self.reduction = reduction
        let across = frame.components[0].horizontal
        let down = frame.components[0].vertical
        unitsPerRow = PlaneLayout.ceiling(frame.width, 8 * across)
        unitRows = PlaneLayout.ceiling(frame.height, 8 * down)
        planes = frame.components.map { component in
            // Where the component has half the samples in both directions, so it fits the luma.
            let isHalved = 2 * component.horizontal == across && 2 * component.vertical == down
            let side = isHalved && enlargesChroma ? 2 * reduction.side : reduction.side
            let width = frame.width * component.horizontal * side
            let height = frame.height * component.vertical * side
            return Plane(
                size: PlaneSize(
                    width: PlaneLayout.ceiling(width, 8 * across),
                    height: PlaneLayout.ceiling(height, 8 * down),
                    extentX: Double(width) / Double(8 * across),
                    extentY: Double(height) / Double(8 * down),
                    rowsPerStrip: component.vertical * side),
                side: side, across: component.horizontal, down: component.vertical,
                columns: PlaneLayout.ceiling(frame.width * component.horizontal, 8 * across),
                rows: PlaneLayout.ceiling(frame.height * component.vertical, 8 * down))
        }
    }

    private static func ceiling(_ value: Int, _ divisor: Int) -> Int {
        (value + divisor - 1) / divisor
    }
}

/// The measures of one plane of a reduced picture: the same that libjpeg delivers as raw data.
///
/// The chroma of 4:2:0 has the size of the luma, since its blocks are reduced less, if that is wanted; other
/// chroma is smaller than the luma by its factors of sampling.
public struct PlaneSize: Hashable, Sendable {
    public let width: Int
    public let height: Int
    /// The picture's size in samples of this plane: the last samples may be covered only in part.
    public let extentX: Double
    public let extentY: Double
    /// Rows in each strip but the last, which may have fewer.
    public let rowsPerStrip: Int
}

/// By how much a picture is made smaller while it is decoded.
public enum JPEGReduction: Int, Sendable, CaseIterable {
    case half = 2
    case quarter = 4
    case eighth = 8

    /// Samples along a side of a reduced block of 8 × 8.
    var side: Int { 8 / rawValue }
}

/// The parameters for reducing the blocks of one plane, and the destination of their samples.
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

    /// A mean multiplied with its step. Sets `damage` when it is out of range for any picture.
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
