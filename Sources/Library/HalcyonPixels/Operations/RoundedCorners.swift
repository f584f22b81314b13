package import Foundation
import Vips

/// Corners of a rectangle.
public struct RectCorner: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static let topLeft = RectCorner(rawValue: 1 << 0)
    public static let topRight = RectCorner(rawValue: 1 << 1)
    public static let bottomLeft = RectCorner(rawValue: 1 << 2)
    public static let bottomRight = RectCorner(rawValue: 1 << 3)
    public static let all: RectCorner = [.topLeft, .topRight, .bottomLeft, .bottomRight]
}

extension Image {
    /// The image with rounded corners, outside of which one sees `background`, or nothing.
    ///
    /// - Parameter radius: In pixels; at most half of the shorter side is used.
    package func rounded(radius: CGFloat, corners: RectCorner, background: Color?) -> Image {
        let background = background ?? .clear
        return changing(hasAlpha: background.alpha < 1) { image, size in
            try image.rounded(radius: radius, corners: corners, size: size)
                .composited(over: background)
        }
    }

    /// The image with a line along its edges, inside of them.
    ///
    /// - Parameters:
    ///   - lineWidth: In pixels.
    ///   - radius: The corner radius along the middle of the line, in pixels.
    package func bordered(
        lineWidth: CGFloat, radius: CGFloat, corners: RectCorner, color: Color
    ) -> Image {
        let lineWidth = Double(max(0, lineWidth))
        return changing { image, size in
            // A wider line than this could not be seen.
            let half = min(lineWidth / 2, Double(size.longestSide))
            let middle = RoundedRectangle(
                size: size, inset: half, radius: radius, corners: corners)
            let line = try VipsImage.coverage(
                by: middle.expanded(by: half), less: middle.expanded(by: -half), size: size,
                like: image)
            return try image.painted(with: color, through: line)
        }
    }
}

/// A rectangle with rounded corners, in pixels, and how much of each pixel it covers.
struct RoundedRectangle {
    private let minX: Double
    private let minY: Double
    private let maxX: Double
    private let maxY: Double
    private let radius: Double
    private let corners: RectCorner

    /// The rectangle `inset` pixels inside one of `size` at the origin.
    ///
    /// - Parameter radius: At most half of the shorter side of `size` is used.
    init(size: PixelSize, inset: Double = 0, radius: Double, corners: RectCorner) {
        let limit = Double(min(size.width, size.height)) / 2
        self.init(
            minX: inset, minY: inset, maxX: Double(size.width) - inset,
            maxY: Double(size.height) - inset, radius: min(max(0, radius), limit),
            corners: corners)
    }

    private init(
        minX: Double, minY: Double, maxX: Double, maxY: Double, radius: Double, corners: RectCorner
    ) {
        self.minX = minX
        self.minY = minY
        self.maxX = max(minX, maxX)
        self.maxY = max(minY, maxY)
        self.radius = min(radius, (self.maxX - minX) / 2, (self.maxY - minY) / 2)
        self.corners = radius > 0 ? corners : []
    }

    /// The outline at a distance of this one: outside of it, or inside for a negative distance.
    ///
    /// A corner keeps its centre; one that is not rounded stays so.
    func expanded(by distance: Double) -> RoundedRectangle {
        RoundedRectangle(
            minX: minX - distance, minY: minY - distance, maxX: maxX + distance,
            maxY: maxY + distance, radius: corners.isEmpty ? 0 : max(0, radius + distance),
            corners: corners)
    }

    /// The coverage of a row's pixels.
    enum Row: Equatable {
        /// Nothing.
        case outside
        /// Equal in all rows of this kind: only the left and right edges matter.
        case plain
        /// Specific to this row.
        case own
    }

    func kind(ofRow y: Int) -> Row {
        let (top, bottom) = (Double(y), Double(y + 1))
        if bottom <= minY || top >= maxY || minX >= maxX { return .outside }
        if top < minY || bottom > maxY { return .own }
        if !corners.isDisjoint(with: [.topLeft, .topRight]), top < minY + radius { return .own }
        if !corners.isDisjoint(with: [.bottomLeft, .bottomRight]), bottom > maxY - radius {
            return .own
        }
        return .plain
    }

    /// Adds the covered part of each pixel of row `y`, times `factor`, to `row`. Exact, not sampled.
    func addCoverage(ofRow y: Int, times factor: Double, to row: inout [Double]) {
        let height = overlap(y, minY, maxY)
        guard height > 0 else { return }
        for x in columns(from: minX, to: maxX, of: row) {
            row[x] += factor * height * overlap(x, minX, maxX)
        }
        let above = minY + radius - Double(y)
        let below = Double(y + 1) - (maxY - radius)
        let left = minX + radius
        let right = maxX - radius
        for (corner, depth) in [(RectCorner.topLeft, above), (.bottomLeft, below)]
        where corners.contains(corner) && depth > 0 {
            for x in columns(from: minX, to: left, of: row) {
                row[x] -= factor * cutOff(left - Double(x), depth)
            }
        }
        for (corner, depth) in [(RectCorner.topRight, above), (.bottomRight, below)]
        where corners.contains(corner) && depth > 0 {
            for x in columns(from: right, to: maxX, of: row) {
                row[x] -= factor * cutOff(Double(x + 1) - right, depth)
            }
        }
    }

    /// The area that the arc leaves outside, of the pixel whose far sides are `u` and `v` from the
    /// arc's centre.
    private func cutOff(_ u: Double, _ v: Double) -> Double {
        let (u1, v1) = (min(u, radius), min(v, radius))
        let (u0, v0) = (min(max(0, u - 1), u1), min(max(0, v - 1), v1))
        return (u1 - u0) * (v1 - v0) - discArea(u0, u1, v0, v1)
    }

    /// The area of a disc around the origin inside `u0…u1` × `v0…v1`, all of them 0 or more: the
    /// integral of the circle's height over `v0`, cut off at `v1`.
    private func discArea(_ u0: Double, _ u1: Double, _ v0: Double, _ v1: Double) -> Double {
        func width(atHeight v: Double) -> Double { max(0, radius * radius - v * v).squareRoot() }
        func integral(_ u: Double) -> Double {
            (u * width(atHeight: u) + radius * radius * asin(min(1, u / radius))) / 2
        }
        let full = min(max(width(atHeight: v1), u0), u1)
        let end = min(max(width(atHeight: v0), u0), u1)
        return (full - u0) * (v1 - v0) + integral(end) - integral(full) - (end - full) * v0
    }

    private func columns(from start: Double, to end: Double, of row: [Double]) -> Range<Int> {
        let first = min(max(0, Int(start.rounded(.down))), row.count)
        return first..<max(first, min(Int(end.rounded(.up)), row.count))
    }

    /// The length that pixel `index` and `start…end` have in common.
    private func overlap(_ index: Int, _ start: Double, _ end: Double) -> Double {
        max(0, min(Double(index + 1), end) - max(Double(index), start))
    }
}
