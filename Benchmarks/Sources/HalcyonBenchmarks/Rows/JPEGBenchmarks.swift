import Foundation
import Halcyon

extension Benchmark {
    /// From a JPEG's bytes to RGB pixels of a smaller size, on one thread, in both qualities.
    static let jpeg: [Benchmark] = [
        best("12 MP → 400 px", of: "12mp.jpg", to: (400, 300), .quarter, target: 1.5),
        fast("12 MP → 400 px", of: "12mp.jpg", to: (400, 300), .eighth, .quarter, target: 1.6),
        best("12 MP → 800 px", of: "12mp.jpg", to: (800, 600), .half, target: 1.5),
        fast("12 MP → 800 px", of: "12mp.jpg", to: (800, 600), .quarter, .half, target: 1.6),
        best("24 MP → 400 px", of: "24mp.jpg", to: (400, 267), .quarter, target: 1.5),
        fast("24 MP → 400 px", of: "24mp.jpg", to: (400, 267), .eighth, .quarter, target: 1.6),
        libraryAlone("12 MP → 400 px", .best, to: (400, 300), [.quarter], target: 1.1),
        libraryAlone("12 MP → 400 px", .fast, to: (400, 300), [.eighth, .quarter], target: 1),
        best(
            "12 MP → 1600 px", of: "12mp.jpg", to: (1600, 1200), .full, class: .good, target: 1.3),
        fast("12 MP → 1600 px", of: "12mp.jpg", to: (1600, 1200), .half, .full, target: 1),
        best(
            "12 MP progressive → 400 px", of: "12mp-progressive.jpg", to: (400, 300), .quarter,
            target: 1),
        fast(
            "12 MP progressive → 400 px", of: "12mp-progressive.jpg", to: (400, 300), .eighth,
            .quarter, class: .coarse, target: 5),
        best("1.1 MP → 400 px", of: "1mp.jpg", to: (400, 300), .full, class: .good, target: 1.5),
        fast("1.1 MP → 400 px", of: "1mp.jpg", to: (400, 300), .half, .full, target: 1),
        best("1.1 MP → 200 px", of: "1mp.jpg", to: (200, 150), .half, class: .good, target: 1.5),
        fast("1.1 MP → 200 px", of: "1mp.jpg", to: (200, 150), .quarter, .half, target: 1),
        best("0.1 MP → 200 px", of: "400.jpg", to: (200, 150), .full, class: .good, target: 1),
        fast("0.1 MP → 200 px", of: "400.jpg", to: (200, 150), .half, class: .any, target: 1),
    ]

    private static func best(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        _ way: OpenCVWay, class quality: QualityClass = .best, target: Double
    ) -> Benchmark {
        JPEGReduction(
            photograph: photograph, width: size.width, height: size.height, quality: .best,
            ways: [way]
        ).benchmark("JPEG \(name), best", class: quality, target: target)
    }

    private static func fast(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        _ ways: OpenCVWay..., class quality: QualityClass = .fast, target: Double
    ) -> Benchmark {
        JPEGReduction(
            photograph: photograph, width: size.width, height: size.height, quality: .fast,
            ways: ways
        ).benchmark("JPEG \(name), fast", class: quality, target: target)
    }

    /// Without the decoder that steps over coefficients.
    private static func libraryAlone(
        _ name: String, _ quality: DownsamplingQuality, to size: (width: Int, height: Int),
        _ ways: [OpenCVWay], target: Double
    ) -> Benchmark {
        JPEGReduction(
            photograph: "12mp.jpg", width: size.width, height: size.height, quality: quality,
            ways: ways, skipsCoefficients: false
        ).benchmark(
            "JPEG \(name), \(quality == .best ? "best" : "fast"), libjpeg-turbo alone",
            class: quality == .best ? .best : .fast, target: target)
    }
}

/// The part of the size at which OpenCV decodes a JPEG before it resizes; the least that is not
/// below the target is the fast way, the one above it the better one.
enum OpenCVWay: String, Sendable {
    case full
    case half
    case quarter
    case eighth

    var name: String {
        switch self {
        case .full: "OpenCV (1/1, area)"
        case .half: "OpenCV (1/2, area)"
        case .quarter: "OpenCV (1/4, area)"
        case .eighth: "OpenCV (1/8, area)"
        }
    }
}
