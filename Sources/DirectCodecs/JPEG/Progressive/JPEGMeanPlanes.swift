/// The planes of a progressive file at an eighth of its size, made of the means of its blocks. Chroma that
/// is stored with half the resolution stays so.
final class JPEGMeanPlanes: JPEGPlaneSource {
    let planes: [JPEGPlane]
    private let means: JPEGMeans
    private var nextStrip = 0

    /// `nil` for files that have to be decoded otherwise.
    init?(_ file: UnsafeRawBufferPointer, header: JPEGHeader) {
        guard let means = JPEGMeans(file), means.frame.width == header.width,
            means.frame.height == header.height
        else { return nil }
        self.means = means
        let frame = means.frame
        let (across, down) = (frame.components[0].horizontal, frame.components[0].vertical)
        planes = means.components.map { component in
            JPEGPlane(
                width: component.width, height: component.height,
                extentX: Double(frame.width * component.frame.horizontal) / Double(8 * across),
                extentY: Double(frame.height * component.frame.vertical) / Double(8 * down),
                rowCapacity: component.stride, stripHeight: component.frame.vertical)
        }
    }

    func readStrip(into rows: JPEGStrip) throws(DirectCodecError) {
        for (index, component) in means.components.enumerated() {
            guard let strip = rows[index], let factor = component.factor else { continue }
            for row in 0..<component.frame.vertical {
                guard let target = strip[row] else { continue }
                let y = nextStrip * component.frame.vertical + row
                let values = component.values + y * component.stride
                for x in 0..<component.stride {
                    // The inverse transform of a block without other coefficients.
                    let level = (Int(values[x]) * factor + 4) >> 3 + 128
                    target[x] = UInt8(clamping: level)
                }
            }
        }
        nextStrip += 1
    }
}
