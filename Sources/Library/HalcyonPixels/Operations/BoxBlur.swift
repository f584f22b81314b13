import CCodecs
package import Foundation
import Vips

extension Image {
    /// The image blurred, close to a Gaussian with a standard deviation of `radius` pixels, at least 2.
    package func blurred(radius: CGFloat) -> Image {
        // The pixels, and what they were before a pass.
        let blur = BoxBlur(radius: radius)
        return applying(ImageOperation(heldPictures: 2) { image, _ in try blur.apply(to: image) })
    }
}

/// Repeated box filters on premultiplied samples of a whole image.
///
/// Each pass replaces every sample by the mean over a square around it, rounded to the nearest whole
/// number; outside of the image the nearest edge pixel counts. The sums slide along, so the time does
/// not depend on the square's size.
struct BoxBlur {
    /// The side of the square; odd.
    let side: Int
    let passes: Int

    /// The boxes that together come close to a Gaussian of standard deviation `max(radius, 2)`: the
    /// side is that of the SVG specification's `feGaussianBlur`, `⌊s · 3√(2π)/4 + ½⌋`, the next odd
    /// number if even; radii under 0.5 pass once, under 1.5 twice, others three times.
    init(radius: Double) {
        let deviation = radius > 2 ? min(radius, Self.largestRadius) : 2
        let size = Int((deviation * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down))
        side = size | 1
        passes = radius < 0.5 ? 1 : radius < 1.5 ? 2 : 3
    }

    /// Sums of a square at this radius still fit into 64 bits; no image is that large.
    private static let largestRadius = 1_000_000.0

    func apply(to image: VipsImage) throws -> VipsImage {
        let pixels = try Bitmap(rendering: image)
        switch pixels.depth {
        case .eight: try blur(pixels, as: UInt8.self)
        case .sixteen: try blur(pixels, as: UInt16.self)
        }
        return try pixels.vipsImage()
    }

    private func blur<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: Bitmap, as type: Sample.Type
    ) throws {
        let (size, channels) = (pixels.size, pixels.channels)
        let samples = UnsafeMutableBufferPointer(
            start: pixels.storage.pointer.assumingMemoryBound(to: Sample.self),
            count: size.pixelCount * channels)
        if channels == 4 { Self.changeColours(samples) { ($0 * $1 + $2 / 2) / $2 } }
        let copy = UnsafeMutableBufferPointer<Sample>.allocate(capacity: samples.count)
        defer { copy.deallocate() }
        for _ in 0..<passes {
            _ = copy.initialize(fromContentsOf: samples)
            try pass(from: UnsafeBufferPointer(copy), to: samples, size: size, bands: channels)
        }
        if channels == 4 {
            Self.changeColours(samples) { $1 == 0 ? $0 : min($2, ($0 * $2 + $1 / 2) / $1) }
        }
    }

    private func pass<Sample: FixedWidthInteger & UnsignedInteger>(
        from source: UnsafeBufferPointer<Sample>, to target: UnsafeMutableBufferPointer<Sample>,
        size: PixelSize, bands: Int
    ) throws {
        let reach = side / 2
        let row = size.width * bands
        let lastRow = size.height - 1
        let lastColumn = size.width - 1
        // The number of samples is odd, so that a mean is never halfway between two numbers.
        let area = UInt64(side) * UInt64(side)
        let scale = 1 / Double(area)
        var columns = [UInt64](repeating: 0, count: row)
        for x in 0..<row {
            var sum = UInt64(source[x]) * UInt64(reach + 1)
            for y in 1..<(1 + min(reach, lastRow)) { sum += UInt64(source[y * row + x]) }
            sum += UInt64(source[lastRow * row + x]) * UInt64(max(0, reach - lastRow))
            columns[x] = sum
        }
        for y in 0..<size.height {
            guard !cdecoding_is_late() else {
                throw ImageCodingError.processing(reason: "it takes too long")
            }
            for band in 0..<bands {
                var sum = columns[band] * UInt64(reach + 1)
                for x in 1..<(1 + min(reach, lastColumn)) { sum += columns[x * bands + band] }
                sum += columns[lastColumn * bands + band] * UInt64(max(0, reach - lastColumn))
                for x in 0..<size.width {
                    target[y * row + x * bands + band] = Sample(Double(sum) * scale + 0.5)
                    sum += columns[min(x + reach + 1, lastColumn) * bands + band]
                    sum -= columns[max(x - reach, 0) * bands + band]
                }
            }
            let entering = min(y + reach + 1, lastRow) * row
            let leaving = max(y - reach, 0) * row
            for x in 0..<row {
                columns[x] += UInt64(source[entering + x])
                columns[x] -= UInt64(source[leaving + x])
            }
        }
    }

    /// Changes the colours of all pixels that are not wholly opaque.
    ///
    /// - Parameter change: Gets a sample, the pixel's opacity and the greatest value of both.
    @inline(__always)
    private static func changeColours<Sample: FixedWidthInteger & UnsignedInteger>(
        _ samples: UnsafeMutableBufferPointer<Sample>,
        _ change: (_ sample: UInt64, _ alpha: UInt64, _ full: UInt64) -> UInt64
    ) {
        let full = UInt64(Sample.max)
        for start in stride(from: 0, to: samples.count, by: 4) {
            let alpha = UInt64(samples[start + 3])
            if alpha == full { continue }
            for index in start..<(start + 3) {
                samples[index] = Sample(change(UInt64(samples[index]), alpha, full))
            }
        }
    }
}
