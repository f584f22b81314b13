import Foundation

/// The colours that a picture mainly consists of.
///
/// ```swift
/// let palette = try await cover.kf.palette(count: 5)
/// let background = palette.dominant ?? palette.average
/// let title = background.textColor(preferring: palette.colors)
/// ```
public struct ColorPalette: Hashable, Sendable {
    /// A colour and how much of the picture it stands for.
    public struct Swatch: Hashable, Sendable {
        public let color: Color
        /// The part of the visible picture, 0…1.
        public let share: Double
    }

    /// The mean of all colours in linear light, weighted by opacity, with the mean opacity: what the
    /// picture looks like from afar. `Color.clear` when all of it is transparent.
    public let average: Color
    /// The colours, that of the largest part first. Fewer than were asked for when the picture has
    /// fewer; none when all of it is transparent.
    public let swatches: [Swatch]

    /// The colour of the largest part; `nil` when all of the picture is transparent.
    public var dominant: Color? { swatches.first?.color }

    /// The colours, that of the largest part first.
    public var colors: [Color] { swatches.map(\.color) }

    /// The palette of a picture.
    ///
    /// Found by k-means in CIELAB. It begins with colours that are frequent and far from each other, and
    /// not with random ones, so that equal pictures have equal palettes.
    ///
    /// - Parameters:
    ///   - bitmap: The picture, best one of at most 64×64 pixels: the time grows with every pixel.
    ///   - count: The most colours, 1…64; what is beyond counts as the nearest.
    public init(_ bitmap: Bitmap, count: Int = 5) {
        let picture = SmallPicture(bitmap)
        average = Self.average(of: picture)
        let groups = ColorGroups(picture)
        swatches = groups.clusters(count: min(max(count, 1), 64)).map {
            let srgb = $0.center.srgb
            return Swatch(
                color: Color(red: srgb.x, green: srgb.y, blue: srgb.z),
                share: $0.weight / groups.weight)
        }
    }

    private static func average(of picture: SmallPicture) -> Color {
        let weight = picture.pixels.reduce(0) { $0 + $1.w }
        guard weight > 0 else { return .clear }
        let light = picture.pixels.reduce(SIMD3<Double>.zero) {
            $0 + $1.xyz.map(LinearLight.decode) * $1.w
        }
        let srgb = (light / weight).map(LinearLight.encode)
        return Color(
            red: srgb.x, green: srgb.y, blue: srgb.z,
            alpha: weight / Double(picture.size.pixelCount))
    }
}

/// The visible pixels of a picture, those of nearly the same colour together.
private struct ColorGroups {
    struct Group {
        let center: LabColor
        let weight: Double

        init(sum: (colour: SIMD3<Double>, weight: Double)) {
            center = LabColor(components: sum.colour / sum.weight)
            weight = sum.weight
        }
    }

    private let groups: [Group]
    /// The opacity of all pixels together.
    let weight: Double

    /// Colours that agree in the upper five bits of each component belong together.
    init(_ picture: SmallPicture) {
        var places: [Int: Int] = [:]
        var sums: [(colour: SIMD3<Double>, weight: Double)] = []
        for pixel in picture.pixels where pixel.w > 0 {
            let bits = (pixel * 255).rounded(.toNearestOrAwayFromZero)
            let key = (Int(bits.x) / 8 * 32 + Int(bits.y) / 8) * 32 + Int(bits.z) / 8
            let place = places[key] ?? sums.count
            if place == sums.count {
                places[key] = place
                sums.append((.zero, 0))
            }
            let colour = LabColor(srgb: pixel.xyz).components
            sums[place].colour += colour * pixel.w
            sums[place].weight += pixel.w
        }
        groups = sums.map(Group.init(sum:))
        weight = groups.reduce(0) { $0 + $1.weight }
    }

    /// At most `count` clusters, the heaviest first.
    func clusters(count: Int) -> [Group] {
        var centers = seeds(count: count)
        var clusters: [Group] = []
        // Mostly settled after ten rounds; each lessens the distances, so that it ends.
        for _ in 0..<50 {
            clusters = assigned(to: centers)
            let moved = clusters.map(\.center)
            let isSettled = zip(moved, centers).allSatisfy { $0.squaredDistance(to: $1) < 1e-6 }
            centers = moved
            if isSettled { break }
        }
        // Equal weights stay in the order in which they were found.
        return clusters.enumerated()
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
            .map(\.element)
    }

    /// The heaviest group, then always that which is heaviest and farthest from those before.
    private func seeds(count: Int) -> [LabColor] {
        var seeds: [LabColor] = []
        var distances = [Double](repeating: 1, count: groups.count)
        while seeds.count < count {
            var best: (index: Int, score: Double)?
            for index in groups.indices {
                let score = groups[index].weight * distances[index]
                if score > (best?.score ?? 0) { best = (index, score) }
            }
            guard let best else { break }
            let seed = groups[best.index].center
            for index in groups.indices {
                let distance = groups[index].center.squaredDistance(to: seed)
                distances[index] = seeds.isEmpty ? distance : min(distances[index], distance)
            }
            seeds.append(seed)
        }
        return seeds
    }

    /// The groups around the nearest of `centers`; those that have none are left out.
    private func assigned(to centers: [LabColor]) -> [Group] {
        var sums = [(colour: SIMD3<Double>, weight: Double)](
            repeating: (.zero, 0), count: centers.count)
        for group in groups {
            var nearest = (index: 0, distance: Double.infinity)
            for (index, center) in centers.enumerated() {
                let distance = group.center.squaredDistance(to: center)
                if distance < nearest.distance { nearest = (index, distance) }
            }
            sums[nearest.index].colour += group.center.components * group.weight
            sums[nearest.index].weight += group.weight
        }
        return sums.filter { $0.weight > 0 }.map(Group.init(sum:))
    }
}
