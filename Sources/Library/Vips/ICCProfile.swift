public import Foundation

/// The properties of an ICC profile (ICC.1) that colour conversion depends on.
public struct ICCProfile: Sendable {
    /// The number of channels of the profile's device colour space, or `nil` for unusual ones.
    public let channelCount: Int?

    /// Whether the profile is a matrix profile with the primaries and the curve of sRGB, whatever its
    /// name: within 0.003 in the primaries and 0.004 in the curve, less than half an 8-bit step mostly.
    public let isSRGB: Bool

    /// Whether colours can be read from the profile's tables by the perceptual intent alone, as from those of
    /// some JPEG files in the colour space XYB.
    public let isPerceptualOnly: Bool

    /// A profile that consists of a curve for each channel and the colours of the primaries, or of
    /// a curve for grey.
    public struct Shaper: Sendable {
        /// The colours of red, green and blue as X, Y and Z, beside a white of D50; `nil` for grey.
        public let primaries: [SIMD3<Double>]?
        private let curves: [ToneCurve]

        fileprivate init?(_ bytes: [UInt8]) {
            // With tables for it, colours do not go by the matrix.
            guard bytes[20..<24].elementsEqual("XYZ ".utf8),
                !["A2B0", "A2B1", "A2B2", "D2B0", "D2B1"].contains(where: {
                    ICCProfile.tag($0, in: bytes) != nil
                })
            else { return nil }
            if bytes[16..<20].elementsEqual("GRAY".utf8) {
                guard let curve = ICCProfile.tag("kTRC", in: bytes).flatMap(ToneCurve.init) else {
                    return nil
                }
                primaries = nil
                curves = [curve, curve, curve]
                return
            }
            guard bytes[16..<20].elementsEqual("RGB ".utf8) else { return nil }
            let colours = ["rXYZ", "gXYZ", "bXYZ"].compactMap { ICCProfile.tag($0, in: bytes) }
            curves = ["rTRC", "gTRC", "bTRC"].compactMap {
                ICCProfile.tag($0, in: bytes).flatMap(ToneCurve.init)
            }
            guard colours.count == 3, curves.count == 3, colours.allSatisfy({ $0.count >= 20 })
            else { return nil }
            primaries = colours.map {
                SIMD3(s15Fixed16($0, 8), s15Fixed16($0, 12), s15Fixed16($0, 16))
            }
        }

        /// The light, 0…1, of a sample, 0…1, of red, green or blue (0, 1, 2).
        public func light(_ channel: Int, of sample: Double) -> Double {
            curves[channel].value(at: sample)
        }
    }

    /// `nil` for a profile with tables, and for other colours than red, green and blue, or grey.
    public let shaper: Shaper?

    /// `nil` when the data is not a profile.
    public init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.count >= 132, bytes[36..<40].elementsEqual("acsp".utf8) else { return nil }
        switch String(decoding: bytes[16..<20], as: UTF8.self) {
        case "GRAY": channelCount = 1
        case "RGB ", "Lab ", "XYZ ": channelCount = 3
        case "CMYK": channelCount = 4
        default: channelCount = nil
        }
        isSRGB = Self.matchesSRGB(bytes)
        shaper = Shaper(bytes)
        isPerceptualOnly =
            Self.tag("A2B0", in: bytes) != nil && Self.tag("A2B1", in: bytes) == nil
            && Self.tag("rXYZ", in: bytes) == nil
    }

    private static func matchesSRGB(_ bytes: [UInt8]) -> Bool {
        guard bytes[16..<20].elementsEqual("RGB ".utf8), tag("A2B0", in: bytes) == nil else {
            return false
        }
        // The primaries of IEC 61966-2-1, adapted to D50, as all sRGB profiles state them.
        let primaries = [
            ("rXYZ", [0.4361, 0.2225, 0.0139]),
            ("gXYZ", [0.3851, 0.7169, 0.0971]),
            ("bXYZ", [0.1431, 0.0606, 0.7141]),
        ]
        for (name, expected) in primaries {
            guard let tag = tag(name, in: bytes), tag.count >= 20 else { return false }
            for (index, value) in expected.enumerated() {
                let found = s15Fixed16(tag, 8 + 4 * index)
                guard abs(found - value) < 0.003 else { return false }
            }
        }
        return ["rTRC", "gTRC", "bTRC"].allSatisfy { name in
            guard let tag = tag(name, in: bytes), let curve = ToneCurve(tag) else { return false }
            return stride(from: 0.0, through: 1.0, by: 1.0 / 16).allSatisfy {
                abs(curve.value(at: $0) - sRGBLinear($0)) < 0.004
            }
        }
    }

    /// The decoding curve of IEC 61966-2-1.
    private static func sRGBLinear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// The bytes of a tag, or `nil` when it is missing or lies outside of the data.
    fileprivate static func tag(_ name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let count = min(bigEndian(bytes[...], 128, 4), 100)
        for index in 0..<count {
            let entry = 132 + 12 * index
            guard entry + 12 <= bytes.count else { return nil }
            guard bytes[entry..<entry + 4].elementsEqual(name.utf8) else { continue }
            let offset = bigEndian(bytes[...], entry + 4, 4)
            let length = bigEndian(bytes[...], entry + 8, 4)
            guard offset + length <= bytes.count, length >= 8 else { return nil }
            return bytes[offset..<offset + length]
        }
        return nil
    }
}

/// A tone curve of a matrix profile: a power, a table, or one of the parametric forms.
private struct ToneCurve: Sendable {
    private enum Shape: Sendable {
        case table([Double])
        case parametric(function: Int, [Double])
    }

    private let shape: Shape

    init?(_ tag: ArraySlice<UInt8>) {
        guard tag.count >= 12 else { return nil }
        if tag.prefix(4).elementsEqual("curv".utf8) {
            let count = bigEndian(tag, 8, 4)
            guard count <= 1 << 16, tag.count >= 12 + 2 * count else { return nil }
            if count == 1 {
                // A single entry is the exponent, with eight fractional bits.
                shape = .parametric(function: 0, [Double(bigEndian(tag, 12, 2)) / 256])
            } else {
                shape = .table((0..<count).map { Double(bigEndian(tag, 12 + 2 * $0, 2)) / 65535 })
            }
        } else if tag.prefix(4).elementsEqual("para".utf8) {
            let function = bigEndian(tag, 8, 2)
            let counts = [1, 3, 4, 5, 7]
            guard function < counts.count, tag.count >= 12 + 4 * counts[function] else {
                return nil
            }
            shape = .parametric(
                function: function, (0..<counts[function]).map { s15Fixed16(tag, 12 + 4 * $0) })
        } else {
            return nil
        }
    }

    /// The linear light of a device value; both from 0 to 1.
    func value(at device: Double) -> Double {
        switch shape {
        case .table(let entries):
            guard let last = entries.indices.last, last > 0 else { return device }
            let position = device * Double(last)
            let lower = min(Int(position), last - 1)
            let fraction = position - Double(lower)
            return entries[lower] * (1 - fraction) + entries[lower + 1] * fraction
        case .parametric(let function, let p):
            return Self.parametric(function, p, device)
        }
    }

    /// The functions of ICC.1:2010, table 65.
    private static func parametric(_ function: Int, _ p: [Double], _ x: Double) -> Double {
        switch function {
        case 0: pow(x, p[0])
        case 1: x >= -p[2] / p[1] ? pow(p[1] * x + p[2], p[0]) : 0
        case 2: x >= -p[2] / p[1] ? pow(p[1] * x + p[2], p[0]) + p[3] : p[3]
        case 3: x >= p[4] ? pow(p[1] * x + p[2], p[0]) : p[3] * x
        default: x >= p[4] ? pow(p[1] * x + p[2], p[0]) + p[5] : p[3] * x + p[6]
        }
    }
}

/// An unsigned big-endian number at an offset from the start of the slice.
private func bigEndian(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> Int {
    let start = bytes.startIndex + offset
    return bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
}

private func s15Fixed16(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Double {
    Double(Int32(truncatingIfNeeded: bigEndian(bytes, offset, 4))) / 65536
}
