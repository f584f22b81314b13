public import Foundation

/// A picture in about 25 bytes, with its proportions and its opacity, to be shown until it is there.
///
/// The format is that of <https://evanw.github.io/thumbhash>: the waves of lightness, of two colour
/// differences and of opacity, their amplitudes in four bits each. Compared with ``BlurHash`` it shows
/// more of the same number of bytes.
public struct ThumbHash: Hashable, Sendable, CustomStringConvertible {
    /// The hash itself.
    public let data: Data

    /// The bytes in base 64, as the hash is mostly written.
    public var description: String { data.base64EncodedString() }

    /// The hash of bytes.
    /// - Throws: `MalformedHash`.
    public init(data: Data) throws(MalformedHash) {
        // Own storage, so that indices begin at 0.
        let data = Data(data)
        guard data.count >= 5 else {
            throw MalformedHash(
                description: "\(data.count) bytes are not a ThumbHash: one has at least 5")
        }
        let head = ThumbHashHead(data)
        guard (1...7).contains(head.shorterCount) else {
            throw MalformedHash(description: "These bytes are not a ThumbHash: one side is 0")
        }
        guard data.count == head.byteCount else {
            throw MalformedHash(
                description: "\(data.count) bytes are not a ThumbHash: by its head this one has "
                    + "\(head.byteCount)")
        }
        self.data = data
    }

    /// The hash of base-64 text, with or without padding.
    /// - Throws: `MalformedHash`.
    public init(_ text: String) throws(MalformedHash) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text + padding) else {
            throw MalformedHash(
                description: "“\(text.prefix(200))” is not a ThumbHash: it is not base 64")
        }
        try self.init(data: data)
    }

    /// The hash of a picture, best one of about 32 pixels: the time grows with every pixel.
    public init(_ bitmap: Bitmap) {
        data = ThumbHashEncoder(SmallPicture(bitmap)).data
    }

    /// Width divided by height of the picture, roughly.
    public var aspectRatio: Double {
        let head = head
        return Double(head.columns) / Double(head.rows)
    }

    /// Whether a part of the picture is transparent.
    public var hasAlpha: Bool { head.hasAlpha }

    /// The average colour and opacity of the picture.
    public var averageColor: Color {
        let head = head
        let pixel = ThumbHashHead.rgb(head.lightness, head.yellowness, head.redness)
            .clamped(lowerBound: .zero, upperBound: .one)
        return Color(red: pixel.x, green: pixel.y, blue: pixel.z, alpha: head.opacity)
    }

    /// The picture that the hash describes, in its proportions.
    ///
    /// - Parameter longestSide: The longer side, in pixels; at least 1.
    public func bitmap(longestSide: Int = 32) -> Bitmap {
        bitmap(size: size(longestSide: longestSide))
    }

    /// The size of a picture in these proportions.
    func size(longestSide: Int) -> PixelSize {
        let head = head
        return PixelSize(width: head.columns, height: head.rows)
            .scaled(toLongestSide: max(1, longestSide))
    }

    private var head: ThumbHashHead { ThumbHashHead(data) }
}

/// The header: the first five bytes, and the sixth of a picture with opacity.
private struct ThumbHashHead {
    /// Means, 0…1, and of the colour differences −1…1.
    let lightness: Double
    let yellowness: Double
    let redness: Double
    let opacity: Double
    let lightnessScale: Double
    let yellownessScale: Double
    let rednessScale: Double
    let opacityScale: Double
    let hasAlpha: Bool
    let isLandscape: Bool
    /// Waves of lightness along the shorter side.
    let shorterCount: Int

    init(_ data: Data) {
        let first = Int(data[0]) | Int(data[1]) << 8 | Int(data[2]) << 16
        let second = Int(data[3]) | Int(data[4]) << 8
        lightness = Double(first & 63) / 63
        yellowness = Double(first >> 6 & 63) / 31.5 - 1
        redness = Double(first >> 12 & 63) / 31.5 - 1
        lightnessScale = Double(first >> 18 & 31) / 31
        hasAlpha = first >> 23 == 1
        shorterCount = second & 7
        yellownessScale = Double(second >> 3 & 63) / 63
        rednessScale = Double(second >> 9 & 63) / 63
        isLandscape = second >> 15 == 1
        let third = hasAlpha && data.count > 5 ? Int(data[5]) : 15
        opacity = Double(third & 15) / 15
        opacityScale = Double(third >> 4) / 15
    }

    /// Waves of lightness across and down; their quotient is that of the sides.
    var columns: Int { isLandscape ? longerCount : shorterCount }
    var rows: Int { isLandscape ? shorterCount : longerCount }
    private var longerCount: Int { hasAlpha ? 5 : 7 }

    /// The waves of lightness that are stored: at least three along each side.
    var storedColumns: Int { max(3, columns) }
    var storedRows: Int { max(3, rows) }

    var start: Int { hasAlpha ? 6 : 5 }

    /// The bytes of a hash with this head: two amplitudes in each after the head.
    var byteCount: Int {
        let colour = 2 * Waves.places(3, 3).count
        let lightness = Waves.places(storedColumns, storedRows).count
        let opacity = hasAlpha ? Waves.places(5, 5).count : 0
        return start + (lightness + colour + opacity + 1) / 2
    }

    /// The colour of a lightness `(r + g + b) / 3`, of `(r + g) / 2 − b` and of `r − g`.
    static func rgb(_ lightness: Double, _ yellowness: Double, _ redness: Double) -> SIMD3<Double> {
        let blue = lightness - 2.0 / 3 * yellowness
        let red = (3 * lightness - blue + redness) / 2
        return SIMD3(red, red - redness, blue)
    }
}

/// The waves that a channel is made of.
private enum Waves {
    /// Which are stored: those in the upper left triangle, row by row, but for the constant.
    static func places(_ columns: Int, _ rows: Int) -> [(column: Int, row: Int)] {
        (0..<rows).flatMap { row in
            (0..<columns).filter {
                $0 + row > 0 && $0 * rows < columns * (rows - row)
            }.map { (column: $0, row: row) }
        }
    }

    /// Half a cosine wave `number` times over `length` pixels, at their middles.
    static func wave(_ number: Int, length: Int) -> [Double] {
        (0..<length).map {
            PortableCosine.cosine(.pi / Double(length) * Double(number) * (Double($0) + 0.5))
        }
    }
}

private struct ThumbHashEncoder {
    /// A channel's mean, its other amplitudes on a scale from 0 to 1, of which ½ is none, and what the
    /// greatest of them is.
    private struct Channel {
        let mean: Double
        let amplitudes: [Double]
        let scale: Double
    }

    let data: Data

    init(_ picture: SmallPicture) {
        let size = picture.size
        let alphas = picture.pixels.map(\.w)
        let weight = alphas.reduce(0, +)
        let hasAlpha = weight < Double(size.pixelCount)
        // In the order in which other programs calculate, so that what is halfway between two levels is
        // rounded as they do.
        let visible = picture.pixels.map { pixel in
            (pixel.xyz * 255).rounded(.toNearestOrAwayFromZero) * (pixel.w / 255)
        }
        let sum = visible.reduce(.zero, +)
        let average = weight > 0 ? sum / weight : .zero
        // What is transparent has the average colour, so that it changes no wave of colour.
        let colours = zip(visible, alphas).map { average * (1 - $1) + $0 }

        let most = hasAlpha ? 5.0 : 7
        func count(_ side: Int) -> Int {
            max(1, Int((most * Double(side) / Double(size.longestSide)).rounded()))
        }
        let (columns, rows) = (count(size.width), count(size.height))
        let isLandscape = size.width > size.height
        let lightness = Self.channel(
            colours.map { ($0.x + $0.y + $0.z) / 3 }, size, max(3, columns), max(3, rows))
        let yellowness = Self.channel(colours.map { ($0.x + $0.y) / 2 - $0.z }, size, 3, 3)
        let redness = Self.channel(colours.map { $0.x - $0.y }, size, 3, 3)
        let opacity = hasAlpha ? Self.channel(alphas, size, 5, 5) : nil

        func level(_ value: Double, _ factor: Double, _ offset: Double = 0) -> Int {
            Int((offset + factor * value).rounded())
        }
        let first =
            level(lightness.mean, 63) | level(yellowness.mean, 31.5, 31.5) << 6
            | level(redness.mean, 31.5, 31.5) << 12 | level(lightness.scale, 31) << 18
            | (hasAlpha ? 1 : 0) << 23
        let second =
            (isLandscape ? rows : columns) | level(yellowness.scale, 63) << 3
            | level(redness.scale, 63) << 9 | (isLandscape ? 1 : 0) << 15
        var data = Data(
            [first, first >> 8, first >> 16, second, second >> 8].map {
                UInt8(truncatingIfNeeded: $0)
            })
        if let opacity {
            data.append(UInt8(level(opacity.mean, 15) | level(opacity.scale, 15) << 4))
        }
        let channels = [lightness, yellowness, redness] + (opacity.map { [$0] } ?? [])
        let levels = channels.flatMap(\.amplitudes).map { UInt8(level($0, 15)) }
        for index in stride(from: 0, to: levels.count, by: 2) {
            let upper = index + 1 < levels.count ? levels[index + 1] : 0
            data.append(levels[index] | upper << 4)
        }
        self.data = data
    }

    private static func channel(
        _ values: [Double], _ size: PixelSize, _ columns: Int, _ rows: Int
    ) -> Channel {
        let across = (0..<columns).map { Waves.wave($0, length: size.width) }
        let down = (0..<rows).map { Waves.wave($0, length: size.height) }
        func amplitude(_ column: Int, _ row: Int) -> Double {
            var sum = 0.0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    sum += values[y * size.width + x] * across[column][x] * down[row][y]
                }
            }
            return sum / Double(size.pixelCount)
        }
        let amplitudes = Waves.places(columns, rows).map { amplitude($0.column, $0.row) }
        let scale = amplitudes.reduce(0) { max($0, abs($1)) }
        return Channel(
            mean: amplitude(0, 0),
            amplitudes: scale > 0 ? amplitudes.map { 0.5 + 0.5 / scale * $0 } : amplitudes,
            scale: scale)
    }
}

extension ThumbHash {
    private struct Channel {
        let mean: Double
        let waves: [(column: Int, row: Int, amplitude: Double)]

        func value(_ across: [[Double]], _ down: [[Double]], _ x: Int, _ y: Int) -> Double {
            waves.reduce(mean) { $0 + $1.amplitude * across[$1.column][x] * down[$1.row][y] * 2 }
        }
    }

    private func bitmap(size: PixelSize) -> Bitmap {
        let head = head
        var index = head.start * 2
        func channel(_ mean: Double, _ columns: Int, _ rows: Int, scale: Double) -> Channel {
            let waves = Waves.places(columns, rows).map { place in
                let level = data[index / 2] >> (index % 2 == 0 ? 0 : 4) & 15
                index += 1
                return (
                    column: place.column, row: place.row,
                    amplitude: (Double(level) / 7.5 - 1) * scale
                )
            }
            return Channel(mean: mean, waves: waves)
        }
        let lightness = channel(
            head.lightness, head.storedColumns, head.storedRows, scale: head.lightnessScale)
        // What rounding has taken from the colours is given back by a quarter more.
        let yellowness = channel(head.yellowness, 3, 3, scale: head.yellownessScale * 1.25)
        let redness = channel(head.redness, 3, 3, scale: head.rednessScale * 1.25)
        let opacity = head.hasAlpha ? channel(head.opacity, 5, 5, scale: head.opacityScale) : nil

        let across = (0..<7).map { Waves.wave($0, length: size.width) }
        let down = (0..<7).map { Waves.wave($0, length: size.height) }
        let pixels = (0..<size.pixelCount).map { index in
            let (y, x) = index.quotientAndRemainder(dividingBy: size.width)
            let colour = ThumbHashHead.rgb(
                lightness.value(across, down, x, y), yellowness.value(across, down, x, y),
                redness.value(across, down, x, y))
            return SIMD4(colour, opacity?.value(across, down, x, y) ?? 1)
        }
        return Bitmap(size: size, hasAlpha: opacity != nil, pixels: pixels)
    }
}
