import CCodecs
import Foundation

/// Converts samples of one colour space to sRGB. Light brighter than paper is mapped by
/// ``ToneMap``; colours outside of sRGB become the nearest components.
package struct ColourConversion {
    /// Light for each value of a sample of red, green and blue; 1 is white, or white paper.
    private let lights: [[Float]]
    private let columns: (SIMD3<Float>, SIMD3<Float>, SIMD3<Float>)
    private let toneMap: ToneMap?
    /// Whether light is that of an HLG scene, brightened for the display by its luminance.
    private let showsScene: Bool
    private let greatest: Int

    private static let steps = 8192
    /// The light at which HLG is shown at its brightest.
    private static let hlgPeak = 1000.0

    /// - Parameter greatest: The greatest value of a sample, 255 or 65535.
    package init(_ colours: ColourDescription, greatest: Int) {
        let light = Self.table(greatest) {
            Self.light(colours.isNarrow ? Self.widened($0, greatest) : $0, colours.transfer)
        }
        self.init(
            lights: [light, light, light], matrix: ColourMatrix(from: colours.primaries),
            toneMap: colours.isHDR
                ? ToneMap(peak: colours.transfer == .hlg ? Self.hlgPeak : colours.peak) : nil,
            showsScene: colours.transfer == .hlg, greatest: greatest)
    }

    /// A conversion from a colour space that is described like a matrix profile of the ICC.
    ///
    /// - Parameters:
    ///   - primaries: The colours of red, green and blue as X, Y and Z, beside a white of D50.
    ///   - light: The light, 0…1, of a sample, 0…1, of a channel.
    package init(
        primaries: [SIMD3<Double>], greatest: Int, light: (_ channel: Int, Double) -> Double
    ) {
        self.init(
            lights: (0..<3).map { channel in
                Self.clampedTable(greatest) { light(channel, $0) }
            }, matrix: ColourMatrix(fromD50: primaries), toneMap: nil, showsScene: false,
            greatest: greatest)
    }

    /// A conversion from grey of three equal samples to grey of sRGB.
    ///
    /// - Parameter light: The light, 0…1, of a sample, 0…1.
    package init(greyOf greatest: Int, light: (Double) -> Double) {
        let table = Self.clampedTable(greatest, light)
        self.init(
            lights: [table, table, table], matrix: ColourMatrix(from: .sRGB), toneMap: nil,
            showsScene: false, greatest: greatest)
    }

    private init(
        lights: [[Float]], matrix: ColourMatrix, toneMap: ToneMap?, showsScene: Bool,
        greatest: Int
    ) {
        self.lights = lights
        columns = (
            SIMD3(matrix.columns.0), SIMD3(matrix.columns.1), SIMD3(matrix.columns.2)
        )
        self.toneMap = toneMap
        self.showsScene = showsScene
        self.greatest = greatest
    }

    private static func table(_ greatest: Int, _ light: (Double) -> Double) -> [Float] {
        (0...greatest).map { Float(light(Double($0) / Double(greatest))) }
    }

    /// As above, within 0…1: a damaged curve may give no number.
    private static func clampedTable(_ greatest: Int, _ light: (Double) -> Double) -> [Float] {
        table(greatest) { sample in
            let light = light(sample)
            return light.isNaN ? 0 : min(max(light, 0), 1)
        }
    }

    /// Converts a sample of the video range to the full range (ITU-T H.273, section 8.3), clamped.
    private static func widened(_ sample: Double, _ greatest: Int) -> Double {
        let step = Double((greatest + 1) / 256)
        return min(max((sample * Double(greatest) - 16 * step) / (219 * step), 0), 1)
    }

    /// Converts pixels of 8 bits and 3 channels, or 4 with opacity, which stays as it is. The target may be
    /// the source.
    package func run(
        _ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>,
        _ channels: Int
    ) {
        guard toneMap == nil else {
            return convert(source, into: target, channels, Self.sampleTable(greatest))
        }
        var light: [Float] = []
        light.reserveCapacity(3 * 256 * 4)
        let scale = Float(CPIXELS_LIGHT_STEPS)
        for (column, values) in zip([columns.0, columns.1, columns.2], lights) {
            for value in values {
                let part = column * (value * scale)
                light.append(contentsOf: [part.x, part.y, part.z, 0])
            }
        }
        cpixels_convert_colours(
            source.baseAddress, target, source.count / channels, Int32(channels), light,
            Self.byteSamples)
    }

    /// Converts pixels of 16 bits and 3 channels, or 4 with opacity, which stays as it is. The
    /// target may be the source.
    package func run(
        _ source: UnsafeBufferPointer<UInt16>, into target: UnsafeMutablePointer<UInt16>,
        _ channels: Int
    ) {
        convert(source, into: target, channels, Self.sampleTable(greatest))
    }

    private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafeBufferPointer<Sample>, into target: UnsafeMutablePointer<Sample>,
        _ channels: Int, _ samples: [Float]
    ) {
        lights[0].withUnsafeBufferPointer { red in
            lights[1].withUnsafeBufferPointer { green in
                lights[2].withUnsafeBufferPointer { blue in
                    samples.withUnsafeBufferPointer { samples in
                        for place in stride(from: 0, to: source.count, by: channels) {
                            let colour = converted(
                                SIMD3(
                                    red[Int(source[place])], green[Int(source[place + 1])],
                                    blue[Int(source[place + 2])]))
                            for channel in 0..<3 {
                                let step = Int(colour[channel])
                                let rest = colour[channel] - Float(step)
                                let sample =
                                    samples[step] + (samples[step + 1] - samples[step]) * rest
                                target[place + channel] = Sample(sample + 0.5)
                            }
                            if channels == 4 { target[place + 3] = source[place + 3] }
                        }
                    }
                }
            }
        }
    }

    /// The light of sRGB in ``steps``.
    @inline(__always)
    private func converted(_ light: SIMD3<Float>) -> SIMD3<Float> {
        var colour = light
        if let toneMap {
            if showsScene { colour *= Self.sceneGain(colour) }
            colour *= toneMap.gain(colour.max())
        }
        colour = columns.0 * colour.x + columns.1 * colour.y + columns.2 * colour.z
        colour.clamp(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1))
        return colour * Float(Self.steps)
    }

    /// Samples of sRGB, for light in equal steps; made once for each depth.
    private static func sampleTable(_ greatest: Int) -> [Float] {
        greatest == 255 ? samplesOfEight : samplesOfSixteen
    }

    private static let samplesOfEight = samples(greatest: 255)
    private static let samplesOfSixteen = samples(greatest: 65535)

    private static func samples(greatest: Int) -> [Float] {
        (0...steps + 1).map {
            Float(sRGBSample(min(1, Double($0) / Double(steps))) * Double(greatest))
        }
    }

    /// The nearest samples of 8 bits, in steps so small that they are the right ones.
    private static let byteSamples: [UInt8] = (0...Int(CPIXELS_LIGHT_STEPS)).map {
        UInt8((sRGBSample(Double($0) / Double(CPIXELS_LIGHT_STEPS)) * 255).rounded())
    }

    private static func light(
        _ sample: Double, _ transfer: ColourDescription.Transfer
    ) -> Double {
        switch transfer {
        case .sRGB:
            return sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
        case .bt709:
            return sample < 0.081 ? sample / 4.5 : pow((sample + 0.099) / 1.099, 1 / 0.45)
        case .gamma(let exponent):
            return pow(sample, exponent)
        case .pq:
            return ToneMap.pqLight(sample) / ToneMap.paperWhite
        case .hlg:
            // ITU-R BT.2100, table 5: light of the scene.
            let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
            return sample <= 0.5 ? sample * sample / 3 : (exp((sample - c) / a) + b) / 12
        }
    }

    /// The display's part of HLG (ITU-R BT.2100, table 5) for a display of 1000 candelas per square metre.
    private static func sceneGain(_ scene: SIMD3<Float>) -> Float {
        let luminance = (scene * SIMD3(0.2627, 0.6780, 0.0593)).sum()
        return pow(luminance, 0.2) * Float(hlgPeak / ToneMap.paperWhite)
    }

    private static func sRGBSample(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}

/// The mapping of a bright picture's light into the range of sRGB: the roll-off of ITU-R BT.2390,
/// which keeps shadows and middle tones and compresses highlights.
///
/// It depends on nothing in the picture but its brightest light.
struct ToneMap {
    /// The light of white paper, in candelas per square metre (ITU-R BT.2408): white in sRGB.
    static let paperWhite = 203.0

    private let peak: Double
    /// The gain of light, indexed by the square root of light over ``peak``.
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

    /// The gain of light whose brightest component is `brightest`; 1 is white paper.
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
