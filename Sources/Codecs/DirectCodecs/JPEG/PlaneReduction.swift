import CCodecs
import CoefficientJPEG

/// Brings the planes of a picture to one size and makes RGB of them, while they are decoded: colours are
/// converted last, when there are fewest pixels.
struct PlaneReduction: ~Copyable {
    private let planes: [cjpeg_plane]
    private let width: Int
    private let isFullRange: Bool
    private let resamplers: [PlaneResampler]
    private let kernels: cpixels_kernels
    /// The rows that are decoded next, of each plane.
    private let strip: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?>
    private let stripRows: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    private let made: UnsafeMutablePointer<Int16>
    private let madeCapacity: Int

    /// - Parameters:
    ///   - planes: One or three.
    ///   - isFullRange: Whether samples use all 256 values, as JFIF has it, or those of video.
    init(
        _ planes: [cjpeg_plane], width: Int, height: Int, isFullRange: Bool = true,
        kernels: cpixels_kernels = cpixels_best().pointee
    ) {
        self.planes = planes
        self.width = width
        self.isFullRange = isFullRange
        self.kernels = kernels
        resamplers = planes.map { plane in
            PlaneResampler(
                horizontal: SampleAxis(
                    sourceCount: plane.width, extent: plane.extent_x, targetCount: width,
                    isHalved: plane.extent_x * 2 == planes[0].extent_x),
                vertical: SampleAxis(
                    sourceCount: plane.height, extent: plane.extent_y, targetCount: height,
                    isHalved: plane.extent_y * 2 == planes[0].extent_y),
                rowCapacity: plane.row_capacity, stripHeight: plane.strip_height, kernels: kernels)
        }
        let rowCount = planes.reduce(0) { $0 + $1.strip_height }
        stripRows = .allocate(capacity: rowCount)
        stripRows.initialize(repeating: nil, count: rowCount)
        strip = .allocate(capacity: planes.count)
        var first = stripRows
        for (index, plane) in planes.enumerated() {
            (strip + index).initialize(to: first)
            first += plane.strip_height
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
    ///
    /// - Parameter library: The decoder of the planes, from which nothing has been read yet.
    func run(
        _ library: JPEGLibrary, into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        // Each strip has as many rows; the surplus ones of the last mean nothing.
        let strip = strip
        try run(into: pixels) { _ throws(CodecRefusal) in
            try library.perform { cjpeg_reader_read_strip($0, strip) }
        }
    }

    /// Writes everything from a decoder that delivers its strips itself.
    ///
    /// - Throws: `JPEGRefusal`, after which the written pixels are invalid.
    func run(_ picture: ReducedJPEG, into pixels: UnsafeMutablePointer<UInt8>) throws {
        var row = pixels
        try picture.decode { delivered in
            reserveStrip()
            for plane in planes.indices {
                guard let targets = strip[plane] else { continue }
                delivered.forEachRow(ofPlane: plane) { row, samples in
                    guard let source = samples.baseAddress else { return }
                    targets[row]?.update(from: source, count: samples.count)
                }
            }
            row = finishStrip(delivered.index, writingTo: row)
        }
    }

    /// Writes everything from planes in memory, rows without padding.
    func run(
        _ samples: [UnsafeMutablePointer<UInt8>], into pixels: UnsafeMutablePointer<UInt8>
    ) {
        run(into: pixels) { index in
            for (plane, shape) in planes.enumerated() {
                guard let targets = strip[plane] else { continue }
                let first = index * shape.strip_height
                for line in first..<max(first, min(first + shape.strip_height, shape.height)) {
                    targets[line - first]?
                        .update(from: samples[plane] + line * shape.width, count: shape.width)
                }
            }
        }
    }

    private func run<Failure: Error>(
        into pixels: UnsafeMutablePointer<UInt8>, readStrip: (_ index: Int) throws(Failure) -> Void
    ) throws(Failure) {
        let strips = (planes[0].height + planes[0].strip_height - 1) / planes[0].strip_height
        var row = pixels
        for index in 0..<strips {
            reserveStrip()
            try readStrip(index)
            row = finishStrip(index, writingTo: row)
        }
    }

    private func reserveStrip() {
        for (plane, resampler) in resamplers.enumerated() {
            guard let rows = strip[plane] else { continue }
            resampler.reserve(planes[plane].strip_height) { rows[$0] = $1 }
        }
    }

    /// Writes the target rows that the strip completes, and returns the address of the next one.
    private func finishStrip(
        _ index: Int, writingTo pixels: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        for (plane, resampler) in resamplers.enumerated() {
            let shape = planes[plane]
            resampler.commit(
                min(shape.strip_height, max(0, shape.height - index * shape.strip_height)))
        }
        var row = pixels
        while resamplers.allSatisfy(\.hasNextRow) {
            writeRow(to: row)
            row += width * 3
        }
        return row
    }

    private func writeRow(to pixels: UnsafeMutablePointer<UInt8>) {
        for (plane, resampler) in resamplers.enumerated() {
            resampler.writeNextRow(to: made + plane * madeCapacity)
            if !isFullRange { cpixels_spread(made + plane * madeCapacity, width, plane > 0) }
        }
        if resamplers.count == 1 {
            kernels.pack_rgb(made, made, made, pixels, width)
        } else {
            kernels.ycbcr_to_rgb(
                made, made + madeCapacity, made + 2 * madeCapacity, pixels, width)
        }
    }
}
