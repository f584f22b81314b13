import CCodecs

/// The planes of an opaque frame, or of a part of it, before anything is made of them.
struct AVIFPlanes {
    /// One plane, or three; the first has no fewer samples than the others.
    private let planes: [AVIFPlane]
    private let meaning: AVIFSampleMeaning
    private let isDeep: Bool

    /// `nil` for samples that do not become RGB by a matrix, and for a part that begins between the samples of
    /// a plane.
    ///
    /// - Parameter part: Lies in the frame.
    init?(_ image: avifImage, _ part: AVIFFile.Transforms.Crop) {
        guard let meaning = AVIFSampleMeaning(image) else { return nil }
        let isHalvedAcross = [AVIF_PIXEL_FORMAT_YUV420, AVIF_PIXEL_FORMAT_YUV422]
            .contains(image.yuvFormat)
        let isHalvedDown = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV420
        let isGrey = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400
        guard !isHalvedAcross || part.left.isMultiple(of: 2),
            !isHalvedDown || part.top.isMultiple(of: 2)
        else { return nil }
        let sampleBytes = image.depth > 8 ? 2 : 1
        func plane(
            _ samples: UnsafeMutablePointer<UInt8>?, _ bytesPerRow: UInt32, isChroma: Bool
        ) -> AVIFPlane? {
            guard let samples else { return nil }
            let across = isChroma && isHalvedAcross ? 2 : 1
            let down = isChroma && isHalvedDown ? 2 : 1
            let start =
                part.top / down * Int(bytesPerRow) + part.left / across * sampleBytes
            return AVIFPlane(
                samples: UnsafeRawPointer(samples + start), bytesPerRow: Int(bytesPerRow),
                isDeep: image.depth > 8, width: Double(part.width) / Double(across),
                height: Double(part.height) / Double(down), isHalvedAcross: across == 2,
                isHalvedDown: down == 2)
        }
        guard let first = plane(image.yuvPlanes.0, image.yuvRowBytes.0, isChroma: false) else {
            return nil
        }
        if isGrey {
            planes = [first]
        } else {
            guard let second = plane(image.yuvPlanes.1, image.yuvRowBytes.1, isChroma: true),
                let third = plane(image.yuvPlanes.2, image.yuvRowBytes.2, isChroma: true)
            else { return nil }
            planes = [first, second, third]
        }
        self.meaning = meaning
        isDeep = image.depth > 8
    }

    /// Writes RGB of 8 or 16 bits, rows without padding.
    func reduce(
        into pixels: UnsafeMutableRawPointer, width: Int, height: Int
    ) throws(CodecRefusal) {
        let reductions = planes.map { AVIFPlaneReduction($0, width: width, height: height) }
        let made = UnsafeMutablePointer<Float>.allocate(capacity: planes.count * width)
        defer { made.deallocate() }
        for row in 0..<height {
            for (index, reduction) in reductions.enumerated() {
                reduction.writeNextRow(to: made + index * width)
            }
            guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
            meaning.write(
                made, planes: planes.count, count: width,
                to: pixels + row * width * 3 * (isDeep ? 2 : 1), isDeep: isDeep)
        }
    }
}

/// The conversion of a plane's samples to red, green and blue (ITU-T H.273, 8.3).
struct AVIFSampleMeaning {
    /// The normalisation of samples: `zeros` is subtracted, then the difference is multiplied by
    /// `factors`.
    private let zeros: SIMD4<Float>
    private let factors: SIMD4<Float>
    /// The contribution of each of the three samples to red, green and blue.
    private let columns: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)

    /// `nil` for colours that are not a matrix of constants.
    init?(_ image: avifImage) {
        guard (8...12).contains(image.depth) else { return nil }
        let scale = Float(1 << (image.depth - 8))
        let isFull = image.yuvRange == AVIF_RANGE_FULL
        let most = Float(1 << image.depth) - 1
        let (black, light) = isFull ? (0, most) : (16 * scale, 219 * scale)
        let (centre, chroma) = (128 * scale, isFull ? most : 224 * scale)
        guard image.matrixCoefficients != AVIF_MATRIX_COEFFICIENTS_IDENTITY else {
            guard image.yuvFormat == AVIF_PIXEL_FORMAT_YUV444 else { return nil }
            // Green, blue, red.
            zeros = SIMD4(black, black, black, 0)
            factors = SIMD4(1 / light, 1 / light, 1 / light, 0)
            columns = (SIMD4(0, 1, 0, 0), SIMD4(0, 0, 1, 0), SIMD4(1, 0, 0, 0))
            return
        }
        guard let (red, blue) = Self.weights(Int(image.matrixCoefficients)) else { return nil }
        let green = 1 - red - blue
        zeros = SIMD4(black, centre, centre, 0)
        factors = SIMD4(1 / light, 1 / chroma, 1 / chroma, 0)
        columns = (
            SIMD4(1, 1, 1, 0), SIMD4(0, -2 * (1 - blue) * blue / green, 2 * (1 - blue), 0),
            SIMD4(2 * (1 - red), -2 * (1 - red) * red / green, 0, 0)
        )
    }

    /// The weights of red and blue in luminance, for a code point of matrix coefficients. An
    /// unspecified code point means BT.601.
    private static func weights(_ codePoint: Int) -> (red: Float, blue: Float)? {
        switch codePoint {
        case 1: (0.2126, 0.0722)
        case 2, 5, 6: (0.299, 0.114)
        case 4: (0.30, 0.11)
        case 7: (0.212, 0.087)
        case 9: (0.2627, 0.0593)
        default: nil
        }
    }

    /// Writes RGB of a row of each plane; of one plane grey.
    func write(
        _ samples: UnsafePointer<Float>, planes: Int, count: Int,
        to target: UnsafeMutableRawPointer, isDeep: Bool
    ) {
        let greatest: Float = isDeep ? 65535 : 255
        let (second, third) = planes == 3 ? (count, 2 * count) : (0, 0)
        let bytes = target.assumingMemoryBound(to: UInt8.self)
        let words = target.assumingMemoryBound(to: UInt16.self)
        for x in 0..<count {
            let stored = SIMD4(samples[x], samples[second + x], samples[third + x], 0)
            let parts = (stored - zeros) * factors
            var colour = SIMD4<Float>(repeating: parts.x)
            if planes == 3 {
                colour = columns.0 * parts.x + columns.1 * parts.y + columns.2 * parts.z
            }
            colour = (colour * greatest)
                .clamped(lowerBound: .zero, upperBound: SIMD4(repeating: greatest))
            for channel in 0..<3 {
                let sample = colour[channel] + 0.5
                if isDeep {
                    words[3 * x + channel] = UInt16(sample)
                } else {
                    bytes[3 * x + channel] = UInt8(sample)
                }
            }
        }
    }
}

/// A plane of a frame, or of a part of it. Its samples belong to the frame.
struct AVIFPlane {
    let samples: UnsafeRawPointer
    let bytesPerRow: Int
    /// Whether samples have 16 bits.
    let isDeep: Bool
    /// The picture's size in samples; it may end within the last one.
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
