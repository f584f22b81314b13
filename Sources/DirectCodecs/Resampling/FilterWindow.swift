/// The samples of an axis that the filter sees, and what they weigh. Of a halved axis it is the
/// interpolated samples.
struct FilterWindow {
    /// Samples that are weighed for each target sample, some of them with zero.
    let count: Int
    private let sourceCount: Int
    private let scale: Double
    private let stretch: Double

    init(_ axis: SampleAxis) {
        let extent = axis.isHalved ? 2 * axis.extent : axis.extent
        sourceCount = axis.isHalved ? max(1, Int(extent.rounded(.up))) : axis.sourceCount
        scale = extent / Double(axis.targetCount)
        // Enlarging keeps the filter's own width.
        stretch = max(scale, 1)
        let radius = LanczosKernel.radius * stretch
        count = min(Int((2 * radius).rounded(.up)) + 1, sourceCount)
    }

    /// Weighs `count` samples for one target sample.
    ///
    /// - Returns: The first of them.
    @inline(__always)
    func weigh(
        _ target: Int, into weights: UnsafeMutableBufferPointer<Double>,
        _ table: UnsafeBufferPointer<Float>
    ) -> Int {
        let centre = (Double(target) + 0.5) * scale
        let edge = centre - LanczosKernel.radius * stretch
        let start = min(max(Int((edge - 0.5).rounded(.up)), 0), sourceCount - count)
        let narrow = 1 / stretch
        for index in 0..<count {
            let distance = Double(start + index) + 0.5 - centre
            weights[index] = LanczosKernel.value(at: distance * narrow, in: table)
        }
        return start
    }
}
