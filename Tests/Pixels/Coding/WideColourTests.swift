import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Files whose colours are converted by an ICC profile, read without libvips.
struct WideColourTests {
    enum Space: CaseIterable {
        case displayP3
        /// Its primaries and its curve.
        case adobeRGB
        /// The primaries of sRGB with another curve, as of many a scanner and display.
        case gammaOfSRGB
        /// As in no real file: nothing of it can be mistaken for sRGB.
        case exchanged

        /// Made of the smallest profile that libvips has: all have their tags in the same places.
        var profile: Data {
            get throws {
                var data = try iccProfile("p3")
                guard let primaries else { return data }
                for (index, number) in primaries.enumerated() {
                    let start = 308 + 20 * (index / 3) + 4 * (index % 3)
                    data.replaceSubrange(start..<start + 4, with: bigEndian(Int(number * 65536), 4))
                }
                // A curve of one entry: 2 and 51/256.
                data.replaceSubrange(368..<374, with: [0, 0, 0, 1, 2, 0x33])
                return data
            }
        }

        /// X, Y and Z of red, green and blue; `nil` for those of the profile.
        private var primaries: [Double]? {
            switch self {
            case .displayP3: nil
            case .adobeRGB:
                [0.60974, 0.31111, 0.01947, 0.20528, 0.62567, 0.06087, 0.14919, 0.06322, 0.74457]
            case .gammaOfSRGB:
                [0.43607, 0.22249, 0.01392, 0.38515, 0.71687, 0.09708, 0.14307, 0.06061, 0.71410]
            case .exchanged:
                [0.3851, 0.7169, 0.0971, 0.4361, 0.2225, 0.0139, 0.1431, 0.0606, 0.7141]
            }
        }
    }

    private static func tagged(_ bitmap: Bitmap, _ space: Space) throws -> VipsImage {
        try bitmap.vipsImage().settingMetadata([("icc-profile-data", .blob(space.profile))])
    }

    /// Colours of all kinds, also such as sRGB does not have.
    private static func colours(channels: Int) throws -> Bitmap {
        try .drawn(64, 64, channels: channels) { x, y in
            [UInt8(x * 4), UInt8(y * 4), UInt8((x * 7 + y * 5) % 256), UInt8(40 + x * 3)]
        }
    }

    /// A picture with all kinds of details.
    static func detailed() throws -> Bitmap {
        try .drawn(800, 800) { x, y in
            let (u, v) = (Double(x) / 800, Double(y) / 800)
            let rings = cos((u * u + v * v) * 300)
            let stripes = (x / 37 + y / 23) % 3 == 0 ? 60.0 : 0
            return [
                UInt8(110 + 70 * rings + stripes), UInt8(90 + 80 * u * sin(v * 90) + stripes),
                UInt8(40 + 120 * v),
            ]
        }
    }

    @Test(arguments: Space.allCases, [3, 4])
    func coloursAreThoseOfLittleCMS(_ space: Space, channels: Int) throws {
        let image = try Self.tagged(Self.colours(channels: channels), space)
        for (saver, options, counts) in [
            ("pngsave_buffer", [:], 3...4), ("webpsave_buffer", ["lossless": true], 3...4),
            ("jpegsave_buffer", ["Q": 95], 3...3),
            ("heifsave_buffer", ["compression": "av1", "Q": 95, "effort": 0], 3...3),
        ] as [(String, [String: VipsValue], ClosedRange<Int>)] where counts.contains(channels) {
            // A format that is not written here has no file.
            guard let data = try? image.encoded(saver, options) else { continue }
            let direct = try EncodedImage(data)
            #expect(!(direct.opened is OpenedByVips))
            let found = try Recipe(encoded: direct).render(frame: 0)
            #expect(found.channels == channels)
            let greatest = try found.greatestDifference(from: decodedByVips(data))
            let mean = try found.meanDifference(from: decodedByVips(data))
            // Both decoders put chroma between its samples in ways of their own.
            let isClose = saver == "heifsave_buffer" ? mean < 1 : greatest <= 3 && mean < 0.4
            #expect(isClose, "\(saver) \(greatest) \(mean)")
        }
    }

    /// What is expected: what is made of the same file without the profile, then converted with 16 bits.
    @Test(arguments: Space.allCases, [50, 100, 333])
    func reductionsAreAsFineAsThoseOfPlainFiles(_ space: Space, side: Int) throws {
        let bitmap = try Self.detailed()
        for (saver, options) in [
            ("pngsave_buffer", ["compression": 1]),
            ("webpsave_buffer", ["lossless": true, "effort": 0]),
            ("jpegsave_buffer", ["Q": 99, "subsample_mode": "off"]),
            ("heifsave_buffer", ["compression": "av1", "Q": 95, "effort": 0]),
        ] as [(String, [String: VipsValue])]
        where saver != "heifsave_buffer" || ImageFormat.writable.contains(.AVIF) {
            let size = PixelSize(side, side)
            let small = try decoded(Self.tagged(bitmap, space).encoded(saver, options), at: size)
            let plain = try decoded(bitmap.vipsImage().encoded(saver, options), at: size)
            let expected = try Self.tagged(plain, space).resampledFinelyToSRGB(side, side)
            let quality = try small.peakSignalToNoise(expected)
            #expect(quality >= 50, "\(saver) \(quality)")
        }
    }

    @Test func aProfileForOtherChannelsIsNotLookedAt() throws {
        let profile = try [UInt8](Space.adobeRGB.profile)
        #expect(ForeignProfile(profile, channels: 1) == nil)
        #expect(ForeignProfile(nil, channels: 3) == nil)
        #expect(ForeignProfile([1, 2, 3], channels: 3) == nil)
    }

    /// Any numbers may stand in a profile.
    @Test func damagedProfilesGivePictures() throws {
        let whole = try [UInt8](Space.displayP3.profile)
        let pixels = try Self.colours(channels: 3)
        var generator = SeededGenerator(state: 5)
        for _ in 0..<200 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                damaged[Int.random(in: 300..<damaged.count, using: &generator)] =
                    UInt8.random(in: 0...255, using: &generator)
            }
            guard let profile = ForeignProfile(damaged, channels: 3) else { continue }
            let bitmap = try #require(Bitmap(pixels: pixels.data, size: pixels.size, channels: 3))
            #expect(try bitmap.convertingNewPixels(by: profile).size == pixels.size)
        }
    }
}
