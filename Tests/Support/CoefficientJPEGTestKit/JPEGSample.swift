import CTestKit
import Foundation

/// A JPEG file that libjpeg encodes from a drawing.
public struct JPEGSample: Sendable {
    public var width: Int
    public var height: Int
    /// The number of channels: 1 or 3.
    public var channels = 3
    public var quality = 85
    /// The sampling factors of the first component: 2 and 2 is 4:2:0.
    public var horizontal = 1
    public var vertical = 1
    public var isOptimised = false
    public var isProgressive = false
    /// The scans of a progressive file.
    public var scans = Scans.suggested
    public var isArithmetic = false
    public var restartInterval = 0
    public var keepsRGB = false

    public enum Scans: Int32, CaseIterable, Sendable {
        /// The scans that libjpeg suggests.
        case suggested
        /// A few bands, with all bits at once.
        case bands
        /// Many scans, by successive approximation.
        case bits
    }

    /// The amplitude of the noise, in levels.
    public var noise = 10
    public var seed: UInt64 = 1

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// A random sample, most often a small one.
    public init(using random: inout SeededRandom) {
        let limits = [16, 16, 16, 16, 48, 48, 48, 48, 48, 100, 100, 100, 160, 160, 300, 700]
        let limit = limits.randomElement(using: &random)!
        self.init(
            width: .random(in: 1...limit, using: &random),
            height: .random(in: 1...limit, using: &random))
        if random.chance(5_000) { (width, height) = (5_000, 3_000) }
        channels = random.chance(6) ? 1 : 3
        quality = .random(in: 1...100, using: &random)
        horizontal = .random(in: 1...2, using: &random)
        vertical = .random(in: 1...2, using: &random)
        if random.chance(40) { horizontal = 4 }
        isOptimised = random.next() & 1 == 0
        isProgressive = random.chance(3)
        scans = Scans.allCases.randomElement(using: &random)!
        isArithmetic = random.chance(100)
        keepsRGB = random.chance(60)
        if random.chance(4) { restartInterval = .random(in: 1...40, using: &random) }
        noise = [0, 0, 3, 12, 60, 255].randomElement(using: &random)!
        seed = random.next()
    }

    /// Returns the file; empty if libjpeg cannot encode it.
    public func encoded() -> [UInt8] {
        let pixels = drawn()
        let options = cjpegref_options(
            width: width, height: height, channels: Int32(channels), quality: Int32(quality),
            horizontal_sampling: Int32(horizontal), vertical_sampling: Int32(vertical),
            is_optimised: isOptimised, is_progressive: isProgressive,
            scans: scans.rawValue, is_arithmetic: isArithmetic,
            restart_interval: Int32(restartInterval), keeps_rgb: keepsRGB)
        var count = 0
        guard let bytes = cjpegref_encode(pixels, options, &count) else { return [] }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Draws waves, discs with hard edges, and noise.
    private func drawn() -> [UInt8] {
        var random = SeededRandom(seed: seed)
        let waves = (0..<channels).map { _ in
            (
                x: Int.random(in: 0...12, using: &random),
                y: Int.random(in: 0...12, using: &random),
                size: Int.random(in: 8...200, using: &random)
            )
        }
        var pixels = [UInt8](repeating: 0, count: width * height * channels)
        var index = 0
        let swing = JPEGSample.swing
        for y in 0..<height {
            for x in 0..<width {
                for wave in waves {
                    var level = swing[(x * wave.x + y * wave.y) & 255]
                    let (dx, dy) = (x % wave.size - wave.size / 2, y % wave.size - wave.size / 2)
                    if dx * dx + dy * dy < wave.size * wave.size / 9 { level = 255 - level }
                    if noise > 0 {
                        level +=
                            Int(truncatingIfNeeded: random.next() >> 33) % (2 * noise + 1) - noise
                    }
                    pixels[index] = UInt8(clamping: level)
                    index += 1
                }
            }
        }
        return pixels
    }

    /// One period of a sine wave around middle grey, in 256 steps.
    private static let swing = (0..<256).map { Int(128 + 90 * sin(Double($0) / 128 * .pi)) }
}

/// Numbers that are the same for the same seed, on every machine: SplitMix64.
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// True once in so many times.
    public mutating func chance(_ times: Int) -> Bool {
        Int.random(in: 0..<times, using: &self) == 0
    }
}
