import Foundation

/// How the light of a bright picture is brought into the range of sRGB: the roll-off of ITU-R BT.2390, by
/// which shadows and middle tones stay as they are and highlights are compressed.
///
/// It is a plain one: it knows nothing of the picture but its brightest light.
struct ToneMap {
    /// The light of white paper, in candelas per square metre (ITU-R BT.2408): white in sRGB.
    static let paperWhite = 203.0

    private let peak: Double
    /// What light is multiplied with, for the square root of light over ``peak``.
    private let gains: [Float]
    private static let steps = 4096

    /// - Parameter peak: The brightest light, in candelas per square metre.
    init(peak: Double) {
        let peak = min(max(peak, Self.paperWhite), 10_000)
        self.peak = peak
        gains = (0...Self.steps).map { step in
            let root = max(Double(step), 0.5) / Double(Self.steps)
            let light = root * root * peak
            return Float(Self.shown(light, peak: peak) / light)
        }
    }

    /// What light is multiplied with whose brightest component is `brightest`, 1 being white paper.
    func gain(_ brightest: Float) -> Float {
        let share = max(0, min(1, brightest * Float(Self.paperWhite / peak)))
        return gains[Int(share.squareRoot() * Float(Self.steps) + 0.5)]
    }

    /// The light that is shown for `light`, both in candelas per square metre.
    static func shown(_ light: Double, peak: Double) -> Double {
        let whole = Self.pqSample(peak)
        let most = Self.pqSample(paperWhite) / whole
        let knee = 1.5 * most - 0.5
        let sample = Self.pqSample(light) / whole
        guard sample > knee, most < 1 else { return min(light, paperWhite) }
        let t = min(1, (sample - knee) / (1 - knee))
        let (t2, t3) = (t * t, t * t * t)
        let mapped =
            (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee)
            + (3 * t2 - 2 * t3) * most
        return pqLight(mapped * whole)
    }

    /// Light, in candelas per square metre, of a sample of SMPTE ST 2084.
    static func pqLight(_ sample: Double) -> Double {
        let power = pow(max(0, sample), 1 / m2)
        return 10_000 * pow(max(0, power - c1) / (c2 - c3 * power), 1 / m1)
    }

    /// The sample, 0…1, of light in candelas per square metre.
    static func pqSample(_ light: Double) -> Double {
        let power = pow(max(0, light) / 10_000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }

    private static let m1 = 2610.0 / 16384
    private static let m2 = 2523.0 / 4096 * 128
    private static let c1 = 3424.0 / 4096
    private static let c2 = 2413.0 / 4096 * 32
    private static let c3 = 2392.0 / 4096 * 32
}
