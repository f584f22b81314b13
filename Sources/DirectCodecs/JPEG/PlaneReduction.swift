import CPixels

/// Brings the planes of a picture to one size and makes RGB of them, while they are decoded: colours are
/// converted last, when there are fewest pixels.
struct PlaneReduction: ~Copyable {
    private let source: any JPEGPlaneSource
    private let width: Int
    private let height: Int
    private let resamplers: [PlaneResampler]
    private let kernels: cpixels_kernels
    /// The rows that are decoded next, of each plane.
    private let strip: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?>
    private let stripRows: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    /// A target row of each plane.
    private let made: UnsafeMutablePointer<Int16>
    private let madeCapacity: Int

    /// - Parameter source: One or three planes that nothing has been read of.
    init(_ source: any JPEGPlaneSource, width: Int, height: Int) {
        self.init(source, width: width, height: height, kernels: cpixels_best().pointee)
    }

    init(
        _ source: any JPEGPlaneSource, width: Int, height: Int, kernels: cpixels_kernels
    ) {
        self.source = source
        self.width = width
        self.height = height
        self.kernels = kernels
        let planes = source.planes
        resamplers = planes.map { plane in
            PlaneResampler(
                horizontal: SampleAxis(
                    sourceCount: plane.width, extent: plane.extentX, targetCount: width,
                    isHalved: plane.extentX * 2 == planes[0].extentX),
                vertical: SampleAxis(
                    sourceCount: plane.height, extent: plane.extentY, targetCount: height,
                    isHalved: plane.extentY * 2 == planes[0].extentY),
                rowCapacity: plane.rowCapacity, stripHeight: plane.stripHeight, kernels: kernels)
        }
        let rowCount = planes.reduce(0) { $0 + $1.stripHeight }
        stripRows = .allocate(capacity: rowCount)
        stripRows.initialize(repeating: nil, count: rowCount)
        strip = .allocate(capacity: planes.count)
        var first = stripRows
        for (index, plane) in planes.enumerated() {
            (strip + index).initialize(to: first)
            first += plane.stripHeight
        }
        // Colours are converted in whole blocks.
        madeCapacity = resamplers[0].targetRowCapacity + 2 * Int(CPIXELS_BLOCK)
        made = .allocate(capacity: planes.count * madeCapacity)
        made.initialize(repeating: 0, count: planes.count * madeCapacity)
    }

    deinit {
        strip.deallocate()
        stripRows.deallocate()
        made.deallocate()
    }

    /// Decodes and writes everything, RGB rows without padding.
    func run(into pixels: UnsafeMutablePointer<UInt8>) throws(DirectCodecError) {
        let planes = source.planes
        let strips = (planes[0].height + planes[0].stripHeight - 1) / planes[0].stripHeight
        var row = pixels
        for index in 0..<strips {
            for (plane, resampler) in resamplers.enumerated() {
                guard let rows = strip[plane] else { continue }
                resampler.reserve(planes[plane].stripHeight) { rows[$0] = $1 }
            }
            try source.readStrip(into: strip)
            for (plane, resampler) in resamplers.enumerated() {
                let shape = planes[plane]
                resampler.commit(
                    min(shape.stripHeight, max(0, shape.height - index * shape.stripHeight)))
            }
            while resamplers.allSatisfy(\.hasNextRow) {
                writeRow(to: row)
                row += width * 3
            }
        }
    }

    private func writeRow(to pixels: UnsafeMutablePointer<UInt8>) {
        for (plane, resampler) in resamplers.enumerated() {
            resampler.writeNextRow(to: made + plane * madeCapacity)
        }
        if resamplers.count == 1 {
            kernels.pack_rgb(made, made, made, pixels, width)
        } else {
            kernels.ycbcr_to_rgb(
                made, made + madeCapacity, made + 2 * madeCapacity, pixels, width)
        }
    }
}
