/// How the blocks of a frame become planes of a reduced picture.
struct PlaneLayout {
    struct Plane {
        let size: PlaneSize
        /// Samples along a side of what becomes of a block: 1, 2, 4 or 8.
        let side: Int
        /// Blocks in a unit, side by side and one below the other.
        let across: Int
        let down: Int
    }

    let reduction: JPEGReduction
    let unitsPerRow: Int
    let unitRows: Int
    let planes: [Plane]

    var blocksPerUnit: Int { planes.reduce(0) { $0 + $1.across * $1.down } }

    init(frame: FrameHeader, reduction: JPEGReduction) {
        self.reduction = reduction
        let across = frame.components[0].horizontal
        let down = frame.components[0].vertical
        unitsPerRow = PlaneLayout.ceiling(frame.width, 8 * across)
        unitRows = PlaneLayout.ceiling(frame.height, 8 * down)
        planes = frame.components.map { component in
            // Where the component has half the samples in both directions, its blocks are reduced by
            // half as much: so it fits the luma without being enlarged.
            let isHalved = 2 * component.horizontal == across && 2 * component.vertical == down
            let side = isHalved ? 2 * reduction.side : reduction.side
            let width = frame.width * component.horizontal * side
            let height = frame.height * component.vertical * side
            return Plane(
                size: PlaneSize(
                    width: PlaneLayout.ceiling(width, 8 * across),
                    height: PlaneLayout.ceiling(height, 8 * down),
                    extentX: Double(width) / Double(8 * across),
                    extentY: Double(height) / Double(8 * down),
                    rowsPerStrip: component.vertical * side),
                side: side, across: component.horizontal, down: component.vertical)
        }
    }

    private static func ceiling(_ value: Int, _ divisor: Int) -> Int {
        (value + divisor - 1) / divisor
    }
}
