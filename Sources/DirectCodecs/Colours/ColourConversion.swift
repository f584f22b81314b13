import Foundation

/// The way from samples of one meaning to those of sRGB. Of light brighter than paper it shows what
/// ``ToneMap`` makes of it, of colours outside of sRGB the nearest components.
package struct ColourConversion {
    /// Light for each value of a sample; 1 is white, or white paper.
    private let light: [Float]
    private let columns: (SIMD3<Float>, SIMD3<Float>, SIMD3<Float>)
    private let toneMap: ToneMap?
    /// How much brighter a light of HLG is shown, for its luminance.
    private let showsScene: Bool
    /// Samples of sRGB, for light in equal steps.
    private let samples: [Float]

    private static let steps = 8192
    /// The light at which HLG is shown at its brightest.
    private static let hlgPeak = 1000.0

    /// - Parameter greatest: The greatest value of a sample, 255 or 65535.
    package init(_ colours: ColourDescription, greatest: Int) {
        light = (0...greatest).map {
            Float(Self.light(Double($0) / Double(greatest), colours.transfer))
        }
        let matrix = ColourMatrix(from: colours.primaries)
        columns = (
            SIMD3(matrix.columns.0), SIMD3(matrix.columns.1), SIMD3(matrix.columns.2)
        )
        showsScene = colours.transfer == .hlg
        toneMap =
            colours.isHDR
            ? ToneMap(peak: colours.transfer == .hlg ? Self.hlgPeak : colours.peak) : nil
        samples = (0...Self.steps + 1).map {
            Float(Self.sRGBSample(min(1, Double($0) / Double(Self.steps))) * Double(greatest))
        }
    }

    /// Converts pixels of 3 channels, or 4 with opacity, which stays as it is.
    package func run<Sample: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafeBufferPointer<Sample>, into target: UnsafeMutablePointer<Sample>,
        _ channels: Int
    ) {
        light.withUnsafeBufferPointer { light in
            samples.withUnsafeBufferPointer { samples in
                for place in stride(from: 0, to: source.count, by: channels) {
                    var colour = SIMD3(
                        light[Int(source[place])], light[Int(source[place + 1])],
                        light[Int(source[place + 2])])
                    if let toneMap {
                        if showsScene { colour *= Self.sceneGain(colour) }
                        colour *= toneMap.gain(colour.max())
                    }
                    colour =
                        columns.0 * colour.x + columns.1 * colour.y + columns.2 * colour.z
                    colour.clamp(
                        lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1))
                    colour *= Float(Self.steps)
                    for channel in 0..<3 {
                        let step = Int(colour[channel])
                        let rest = colour[channel] - Float(step)
                        let sample = samples[step] + (samples[step + 1] - samples[step]) * rest
                        target[place + channel] = Sample(sample + 0.5)
                    }
                    if channels == 4 { target[place + 3] = source[place + 3] }
                }
            }
        }
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
