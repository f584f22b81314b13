import Vips

/// How much of each pixel a shape covers, as one band of 8 or 16 bits.
struct CoverageMask {
    private let size: PixelSize
    private let format: VipsBandFormat
    private let memory: PixelMemory

    /// The mask of a shape, less that of one inside of it.
    init(
        size: PixelSize, format: VipsBandFormat, adding shape: RoundedRectangle,
        subtracting hole: RoundedRectangle? = nil
    ) {
        self.size = size
        self.format = format
        let count = size.pixelCount * format.bytesPerSample
        let pointer = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        memory = PixelMemory(adopting: pointer, count: count) { $0.deallocate() }
        let shapes = [(shape, 1.0)] + (hole.map { [($0, -1.0)] } ?? [])
        if format == .ushort {
            fill(UInt16.self, with: shapes)
        } else {
            fill(UInt8.self, with: shapes)
        }
    }

    /// The mask as the start of a libvips pipeline.
    func vipsImage() throws -> VipsImage {
        try VipsImage.memory(
            memory.pointer, count: memory.count, owner: memory, width: size.width,
            height: size.height, bands: 1, format: format,
            interpretation: format == .ushort ? .grey16 : .bw)
    }

    private func fill<Sample: FixedWidthInteger>(
        _ type: Sample.Type, with shapes: [(shape: RoundedRectangle, factor: Double)]
    ) {
        let start = memory.pointer.bindMemory(to: Sample.self, capacity: size.pixelCount)
        var coverage = [Double](repeating: 0, count: size.width)
        var previous: [RoundedRectangle.Row] = []
        for y in 0..<size.height {
            let row = start + y * size.width
            let kinds = shapes.map { $0.shape.kind(ofRow: y) }
            if kinds == previous, !kinds.contains(.own) {
                row.initialize(from: row - size.width, count: size.width)
                continue
            }
            previous = kinds
            for x in coverage.indices { coverage[x] = 0 }
            for (shape, factor) in shapes {
                shape.addCoverage(ofRow: y, times: factor, to: &coverage)
            }
            for x in 0..<size.width {
                let value = min(max(0, coverage[x]), 1) * Double(Sample.max)
                (row + x).initialize(to: Sample(value.rounded()))
            }
        }
    }
}
