import CTestKit
import CoefficientJPEG
import CoefficientJPEGTestKit
import DirectCodecs
import Foundation
import Testing

/// At 1/4 and 1/2 the planes differ from libjpeg's on purpose. Both are compared with the whole planes,
/// transformed in double precision and made smaller by Lanczos-3.
@Suite struct QualityTests {
    @Test(arguments: [("china.jpg", 0), ("flower.jpg", 1)])
    func planesAreNearerToTheFilteredPhotographThanLibjpegs(name: String, index: Int) throws {
        let samples = URL(filePath: #filePath).appending(
            path: "../../../../Sources/Programs/HalcyonSamples/Samples")
        let bytes = [UInt8](try Data(contentsOf: samples.appending(path: name).standardized))
        let whole = try WholePlane(of: bytes, component: index)
        for reduction in [JPEGReduction.quarter, .half] {
            let ours = try Planes(decoding: bytes, reducedTo: reduction).planes[index]
            let picture = ReferencePicture(decoding: bytes, denominator: reduction.rawValue)
            let theirs = try #require(picture.planes).planes[index]
            // Whole blocks are made smaller; the rows that stand out below are left away.
            let factor = whole.width / ours.width
            let all = whole.reduced(toWidth: ours.width, height: whole.height / factor)
            let wanted = Array(all.prefix(ours.samples.count))
            #expect(ratio(ours.samples, wanted) >= ratio(theirs.samples, wanted))
        }
    }

    /// The chroma of 4:2:0 at 1/2 keeps all its samples: nothing but rounding may differ.
    @Test func wholeBlocksAreTransformedExactly() throws {
        var sample = JPEGSample(width: 96, height: 80)
        (sample.horizontal, sample.vertical) = (2, 2)
        sample.noise = 120
        let bytes = sample.encoded()
        let ours = try Planes(decoding: bytes, reducedTo: .half).planes[2]
        let whole = try WholePlane(of: bytes, component: 2)
        #expect((ours.width, ours.height) == (whole.width, whole.height))
        for (sample, wanted) in zip(ours.samples, whole.samples) {
            #expect(abs(Double(sample) - min(max(wanted, 0), 255)) < 0.502)
        }
    }

    /// The ratio of signal to noise in decibels.
    private func ratio(_ samples: [UInt8], _ wanted: [Double]) -> Double {
        let squares = zip(samples, wanted).map { pow(Double($0) - min(max($1, 0), 255), 2) }
        return 10 * log10(255 * 255 * Double(samples.count) / squares.reduce(0, +))
    }
}

/// A plane of a file in double precision, by the formula of the standard.
private struct WholePlane {
    let width: Int
    let height: Int
    var samples: [Double]

    init(of bytes: [UInt8], component: Int) throws {
        var coefficients = cjpegref_coefficients()
        try #require(
            cjpegref_read_coefficients(bytes, bytes.count, Int32(component), &coefficients))
        defer { cjpegref_free_coefficients(&coefficients) }
        (width, height) = (coefficients.width, coefficients.height)
        samples = UnsafeBufferPointer(start: coefficients.values, count: width * height)
            .map { Double($0) }
        for block in stride(from: 0, to: width * height, by: 8) { transform(from: block, step: 1) }
        for top in stride(from: 0, to: height, by: 8) {
            for column in 0..<width { transform(from: top * width + column, step: width) }
        }
        for index in samples.indices { samples[index] += 128 }
    }

    /// The inverse transform of eight values.
    private mutating func transform(from start: Int, step: Int) {
        let values = (0..<8).map { samples[start + $0 * step] }
        for x in 0..<8 {
            var sum = 0.0
            for u in 0..<8 { sum += values[u] * Self.basis[u * 8 + x] }
            samples[start + x * step] = sum
        }
    }

    private static let basis = (0..<64).map { index -> Double in
        let (u, x) = (index / 8, index % 8)
        let angle = Double((2 * x + 1) * u) * Double.pi / 16
        return u == 0 ? sqrt(0.125) : 0.5 * cos(angle)
    }

    /// Made smaller by Lanczos-3.
    func reduced(toWidth newWidth: Int, height newHeight: Int) -> [Double] {
        let (horizontal, vertical) = ExactLanczos.axes(width, height, newWidth, newHeight)
        return ExactLanczos.plane(samples, horizontal, vertical)
    }
}
