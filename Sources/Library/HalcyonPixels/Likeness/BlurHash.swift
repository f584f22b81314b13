import Foundation

/// A picture in 20 to 30 characters: what one sees of it from far away, to be shown until it is there.
///
/// The format is that of <https://blurha.sh>: a few waves across and down, in linear light, their
/// amplitudes in base 83. Opacity is not part of it; what is transparent counts as white.
///
/// ```swift
/// let hash = try await photo.kf.blurHash()
/// print(hash)
/// let preview = hash.bitmap(size: PixelSize(width: 32, height: 24))
/// ```
public struct BlurHash: Hashable, Sendable, CustomStringConvertible {
    /// The hash itself.
    public let description: String
    /// The number of waves across, 1…9, the constant included.
    public let columns: Int
    /// The number of waves down, 1…9, the constant included.
    public let rows: Int
    /// Base-83 digits.
    private let digits: [Int]

    /// Reads a hash.
    /// - Throws: `MalformedHash`.
    public init(_ text: String) throws(MalformedHash) {
        func malformed(_ problem: String) -> MalformedHash {
            MalformedHash(description: "“\(text.prefix(200))” is not a BlurHash: \(problem)")
        }
        var digits: [Int] = []
        for character in text.utf8 {
            guard let digit = Base83.value(of: character) else {
                throw malformed("it has a character that is not of base 83")
            }
            digits.append(digit)
        }
        guard digits.count >= 6 else { throw malformed("it is shorter than 6 characters") }
        guard digits[0] < 81 else { throw malformed("its first character stands for no size") }
        let (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        guard digits.count == 4 + 2 * columns * rows else {
            throw malformed(
                "one of \(columns)×\(rows) has \(4 + 2 * columns * rows) characters, this "
                    + "\(digits.count)")
        }
        guard Base83.number(digits[2..<6]) < 1 << 24 else {
            throw malformed("its average colour is out of range")
        }
        self.init(digits: digits, columns: columns, rows: rows)
    }

    /// The hash of a picture.
    ///
    /// - Parameters:
    ///   - bitmap: The picture, best one of about 32 pixels: the time grows with every pixel.
    ///   - columns: Waves across, 1…9; what is beyond counts as the nearest.
    ///   - rows: Waves down, likewise.
    public init(_ bitmap: Bitmap, columns: Int = 4, rows: Int = 3) {
        let (columns, rows) = (min(max(columns, 1), 9), min(max(rows, 1), 9))
        let waves = Self.amplitudes(of: SmallPicture(bitmap), columns: columns, rows: rows)
        var digits = [columns - 1 + (rows - 1) * 9]
        let highest = waves.dropFirst().reduce(0) { max($0, $1.map { abs($0) }.max()) }
        let step = min(max(Int((highest * 166 - 0.5).rounded(.down)), 0), 82)
        digits.append(step)
        digits += Base83.digits(of: Self.packed(waves[0]), count: 4)
        let maximum = Double(step + 1) / 166
        for wave in waves.dropFirst() {
            let levels = Self.signedSquareRoot(wave / maximum) * 9 + 9.5
            let cut = levels.rounded(.down).clamped(
                lowerBound: .zero, upperBound: SIMD3(repeating: 18))
            let number = (Int(cut.x) * 19 + Int(cut.y)) * 19 + Int(cut.z)
            digits += Base83.digits(of: number, count: 2)
        }
        self.init(digits: digits, columns: columns, rows: rows)
    }

    private init(digits: [Int], columns: Int, rows: Int) {
        self.digits = digits
        self.columns = columns
        self.rows = rows
        description = Base83.text(of: digits)
    }

    /// The average colour of the picture, in linear light.
    public var averageColor: Color {
        let number = Base83.number(digits[2..<6])
        let bytes = [16, 8, 0].map { CGFloat(number >> $0 & 255) / 255 }
        return Color(red: bytes[0], green: bytes[1], blue: bytes[2])
    }

    /// The picture that the hash describes.
    ///
    /// - Parameters:
    ///   - size: 32 pixels are enough, enlarged when they are shown; the time grows with every pixel.
    ///   - punch: How strong the waves are; 1 is as in the picture.
    public func bitmap(size: PixelSize, punch: Double = 1) -> Bitmap {
        let size = PixelSize(width: max(1, size.width), height: max(1, size.height))
        let waves = waves(punch: punch)
        let across = (0..<columns).map { Self.wave($0, length: size.width) }
        let down = (0..<rows).map { Self.wave($0, length: size.height) }
        var pixels: [SIMD4<Double>] = []
        pixels.reserveCapacity(size.pixelCount)
        for y in 0..<size.height {
            // Of each wave across, what this row has of it.
            let row = (0..<columns).map { column in
                (0..<rows).reduce(SIMD3<Double>.zero) {
                    $0 + waves[$1 * columns + column] * down[$1][y]
                }
            }
            for x in 0..<size.width {
                let light = (0..<columns).reduce(SIMD3<Double>.zero) {
                    $0 + row[$1] * across[$1][x]
                }
                pixels.append(SIMD4(light.map(LinearLight.encode), 1))
            }
        }
        return Bitmap(size: size, hasAlpha: false, pixels: pixels)
    }

    /// The amplitudes that the digits stand for, row by row.
    private func waves(punch: Double) -> [SIMD3<Double>] {
        let average = averageColor
        let constant = SIMD3(average.red, average.green, average.blue).map {
            LinearLight.decode(Double($0))
        }
        let maximum = Double(digits[1] + 1) / 166 * punch
        return [constant]
            + (1..<(columns * rows)).map { index in
                let start = 4 + 2 * index
                let number = Base83.number(digits[start..<(start + 2)])
                let levels = SIMD3(
                    Double(number / 361), Double(number / 19 % 19), Double(number % 19))
                return Self.signedSquare((levels - 9) / 9) * maximum
            }
    }
}

extension BlurHash {
    /// The waves of a picture in linear light, row by row: for each the mean of the picture times the
    /// wave, twice that but for the constant.
    private static func amplitudes(
        of picture: SmallPicture, columns: Int, rows: Int
    ) -> [SIMD3<Double>] {
        let size = picture.size
        let light = picture.colorsOnWhite.map { $0.map(LinearLight.decode) }
        let across = (0..<columns).map { wave($0, length: size.width) }
        let down = (0..<rows).map { wave($0, length: size.height) }
        return (0..<(columns * rows)).map { index in
            let (row, column) = index.quotientAndRemainder(dividingBy: columns)
            var sum = SIMD3<Double>.zero
            for y in 0..<size.height {
                for x in 0..<size.width {
                    sum += light[y * size.width + x] * (across[column][x] * down[row][y])
                }
            }
            return sum * ((index == 0 ? 1 : 2) / Double(size.pixelCount))
        }
    }

    /// Half a cosine wave `number` times over `length` pixels, at their left edges as the format has
    /// it.
    private static func wave(_ number: Int, length: Int) -> [Double] {
        (0..<length).map { cos(.pi * Double(number) * Double($0) / Double(length)) }
    }

    /// 24 bits of sRGB.
    private static func packed(_ light: SIMD3<Double>) -> Int {
        let values = light.clamped(lowerBound: .zero, upperBound: .one).map {
            (LinearLight.encode($0) * 255).rounded(.toNearestOrAwayFromZero)
        }
        return Int(values.x) << 16 | Int(values.y) << 8 | Int(values.z)
    }

    private static func signedSquareRoot(_ values: SIMD3<Double>) -> SIMD3<Double> {
        values.map { $0 < 0 ? -(-$0).squareRoot() : $0.squareRoot() }
    }

    private static func signedSquare(_ values: SIMD3<Double>) -> SIMD3<Double> {
        values.map { $0 < 0 ? -$0 * $0 : $0 * $0 }
    }
}

/// Numbers in the 83 characters that BlurHash is written with.
private enum Base83 {
    private static let characters = Array(
        ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
            + "#$%*+,-.:;=?@[]^_{|}~").utf8)
    private static let values: [Int?] = {
        var values = [Int?](repeating: nil, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = value }
        return values
    }()

    static func value(of character: UInt8) -> Int? { values[Int(character)] }

    static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 83 + $1 } }

    static func digits(of number: Int, count: Int) -> [Int] {
        var (rest, digits) = (number, [Int]())
        for _ in 0..<count {
            digits.insert(rest % 83, at: 0)
            rest /= 83
        }
        return digits
    }

    static func text(of digits: [Int]) -> String {
        String(decoding: digits.map { characters[$0] }, as: UTF8.self)
    }
}

extension SIMD3<Double> {
    func map(_ change: (Double) -> Double) -> SIMD3 {
        SIMD3(change(x), change(y), change(z))
    }
}
