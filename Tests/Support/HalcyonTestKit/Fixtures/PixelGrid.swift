/// One pixel: straight (not premultiplied) 8-bit red, green, blue and alpha.
public struct Pixel: Hashable, Sendable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8
    public var alpha: UInt8

    public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    public init(gray: UInt8) { self.init(gray, gray, gray) }

    public static let red = Pixel(255, 0, 0)
    public static let green = Pixel(0, 255, 0)
    public static let blue = Pixel(0, 0, 255)
    public static let white = Pixel(gray: 255)
    public static let black = Pixel(gray: 0)
    public static let clear = Pixel(0, 0, 0, 0)
}

/// The exact pixels of a fixture, row by row from the top.
public struct PixelGrid: Hashable, Sendable {
    public let width: Int
    public let height: Int
    /// `width * height` pixels.
    public private(set) var pixels: [Pixel]

    /// A grid whose pixel at (x, y) is `pixel(x, y)`; both sides must be positive.
    public init(width: Int, height: Int, pixel: (_ x: Int, _ y: Int) -> Pixel) {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        self.width = width
        self.height = height
        pixels = []
        pixels.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width { pixels.append(pixel(x, y)) }
        }
    }

    public subscript(x: Int, y: Int) -> Pixel {
        get { pixels[y * width + x] }
        set { pixels[y * width + x] = newValue }
    }

    /// One colour everywhere.
    public static func solid(_ pixel: Pixel, width: Int, height: Int) -> PixelGrid {
        PixelGrid(width: width, height: height) { _, _ in pixel }
    }

    /// Red, green over blue, white: one colour per quarter, so that turns and flips can be told.
    public static func quadrants(width: Int, height: Int) -> PixelGrid {
        PixelGrid(width: width, height: height) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): .red
            case (false, true): .green
            case (true, false): .blue
            case (false, false): .white
            }
        }
    }

    /// Red grows from left to right and green from top to bottom, from 0 to 255; blue is 128.
    public static func gradient(width: Int, height: Int) -> PixelGrid {
        PixelGrid(width: width, height: height) { x, y in
            Pixel(UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), 128)
        }
    }

    /// Squares of `side` pixels in turn; the top left one has the first colour.
    public static func checkerboard(
        _ first: Pixel = .black, _ second: Pixel = .white, side: Int = 1, width: Int, height: Int
    ) -> PixelGrid {
        PixelGrid(width: width, height: height) { x, y in
            (x / side + y / side).isMultiple(of: 2) ? first : second
        }
    }

    /// Pixels without any pattern, always the same for one seed: a picture that does not compress.
    public static func noise(seed: UInt64 = 1, width: Int, height: Int) -> PixelGrid {
        var random = SeededGenerator(state: seed)
        return PixelGrid(width: width, height: height) { _, _ in
            let mixed = random.next()
            return Pixel(
                UInt8(truncatingIfNeeded: mixed), UInt8(truncatingIfNeeded: mixed >> 8),
                UInt8(truncatingIfNeeded: mixed >> 16))
        }
    }

    /// The colours in the order of their first appearance.
    var palette: [Pixel] {
        var seen: Set<Pixel> = []
        return pixels.filter { seen.insert($0).inserted }
    }
}

extension [Pixel] {
    /// The place of each colour of a palette of at most 256.
    var indexByColor: [Pixel: UInt8] {
        Dictionary(uniqueKeysWithValues: enumerated().map { ($1, UInt8($0)) })
    }
}
