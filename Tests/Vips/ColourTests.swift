import Foundation
import Testing

@testable import Vips

@Suite struct ColourTests {
    /// The encoding curve of IEC 61966-2-1, in 8-bit steps.
    private func sRGBEncoded(_ light: Double) -> Double {
        255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
    }

    private func withProfile(_ image: VipsImage, _ profile: Data) throws -> VipsImage {
        try image.settingMetadata([("icc-profile-data", .blob(profile))])
    }

    private func distance(_ left: Pixels, _ right: Pixels) -> Int {
        zip(left.samples, right.samples).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test func leavesSRGBAlone() throws {
        let source = Pixels.numbered(9, 7, 3)
        let image = try source.image()
        #expect(try Pixels(image.convertedToSRGB()) == source)
        let tagged = try image.apply(
            "icc_transform", ["output_profile": "srgb", "input_profile": "srgb"])
        #expect(tagged.hasProfile)
        let profile = try #require(tagged.blob("icc-profile-data"))
        let converted = try withProfile(image, profile).convertedToSRGB()
        #expect(try Pixels(converted) == source)
        #expect(!converted.hasProfile && converted.interpretation == .srgb)
    }

    @Test func spreadsGreyOverThreeBands() throws {
        let source = Pixels.numbered(9, 7, 1)
        let expected = Pixels(9, 7, 3) { x, y, _ in source[x, y][0] }
        #expect(try Pixels(source.image().convertedToSRGB()) == expected)
        let withAlpha = Pixels.numbered(9, 7, 2)
        let converted = try Pixels(withAlpha.image().convertedToSRGB())
        #expect(converted == Pixels(9, 7, 4) { x, y, band in withAlpha[x, y][band < 3 ? 0 : 1] })
    }

    @Test func followsAGreyProfile() throws {
        let ramp = Pixels(256, 1, 1) { x, _, _ in UInt8(x) }
        let image = try withProfile(ramp.image(), ProfileFixture.grey(gamma: 1.8))
        let converted = try image.convertedToSRGB()
        #expect(converted.shape == [256, 1, 3] && !converted.hasProfile)
        let pixels = try Pixels(converted)
        for x in 0..<256 {
            let expected = sRGBEncoded(pow(Double(x) / 255, 1.8))
            for sample in pixels[x, 0] { #expect(abs(Double(sample) - expected) <= 1.5) }
        }
    }

    @Test func followsALinearMatrixProfileAndLeavesAlphaAlone() throws {
        let source = Pixels(256, 1, 4) { x, _, band in
            [UInt8(x), UInt8(255 - x), UInt8(x / 2), UInt8(255 - x / 3)][band]
        }
        let image = try withProfile(source.image(), ProfileFixture.rgb(gamma: 1))
        let pixels = try Pixels(image.convertedToSRGB())
        for x in 0..<256 {
            for band in 0..<3 {
                let expected = sRGBEncoded(Double(source[x, 0][band]) / 255)
                #expect(abs(Double(pixels[x, 0][band]) - expected) <= 2.5)
            }
            #expect(pixels[x, 0][3] == source[x, 0][3])
        }
    }

    @Test func keepsDeepImagesDeep() throws {
        let values: [UInt16] = [0, 1000, 20000, 40000, 65535, 12345]
        let image = try VipsImage.deep(values, bands: 3, as: .rgb16)
        let plain = try image.convertedToSRGB()
        let linear = try withProfile(image.addingAlpha(), ProfileFixture.rgb(gamma: 1))
            .convertedToSRGB()
        for converted in [plain, linear] {
            #expect(converted.format == .ushort && converted.interpretation == .rgb16)
        }
        #expect(try plain.deepSamples() == values)
        let samples = try linear.deepSamples()
        for (index, value) in values.enumerated() {
            let expected = sRGBEncoded(Double(value) / 65535) * 257
            #expect(abs(Double(samples[index / 3 * 4 + index % 3]) - expected) < 400)
        }
        #expect(samples[3] == 65535)
    }

    @Test func spreadsDeepGreyWithAlpha() throws {
        let converted = try VipsImage.deep([0, 65535, 30000, 500], bands: 2, as: .grey16)
            .convertedToSRGB()
        #expect(converted.interpretation == .rgb16)
        #expect(try converted.deepSamples() == [0, 0, 0, 65535, 30000, 30000, 30000, 500])
    }

    @Test(arguments: ["p3", "cmyk"])
    func undoesTheConversionToAnotherProfile(profile: String) throws {
        // Muted colours, which every space can hold.
        let source = Pixels(40, 30, 3) { x, y, band in
            UInt8(90 + (x * 2 + y + band * 15) % 80)
        }
        let other = try source.image().apply(
            "icc_transform", ["output_profile": .string(profile), "input_profile": "srgb"])
        #expect(other.hasProfile)
        let direct = try distance(Pixels(other.convertedToSRGB()), source)
        #expect(direct <= (profile == "cmyk" ? 8 : 3))
        let encoded = try other.copiedToMemory().encoded("jpegsave_buffer", ["Q": 100])
        let loaded = try VipsImage.load("jpegload_buffer", bytes: encoded)
        #expect(loaded.bands == (profile == "cmyk" ? 4 : 3))
        let converted = try loaded.convertedToSRGB()
        #expect(converted.bands == 3 && !converted.hasProfile)
        // Saved, so that the profile must have been replaced by the pixels themselves.
        #expect(try distance(Pixels(converted), source) <= 20)
    }

    @Test func convertsInkWithoutAProfile() throws {
        let inks = Pixels(3, 1, 4) { x, _, band in
            [[0, 0, 0, 0], [0, 0, 0, 255], [0, 255, 255, 0]][x][band]
        }
        let converted = try Pixels(inks.image(as: .cmyk).convertedToSRGB())
        #expect(converted.bands == 3)
        #expect(converted[0, 0].allSatisfy { $0 > 250 })
        #expect(converted[1, 0].allSatisfy { $0 < 70 })
        #expect(converted[2, 0][0] > 180 && converted[2, 0][1] < 80 && converted[2, 0][2] < 80)
    }

    @Test func convertsMeasuredColours() throws {
        let source = Pixels.gradient(16, 16)
        for space in [VipsInterpretation.lab, .scrgb, .xyz] {
            let other = try source.image().converted(to: space)
            #expect(other.interpretation == space)
            let back = try other.convertedToSRGB()
            #expect(back.format == .uchar && back.interpretation == .srgb)
            #expect(try distance(Pixels(back), source) <= 1)
        }
    }

    @Test func survivesProfilesThatAreBrokenOrDoNotFit() throws {
        let source = Pixels.numbered(8, 8, 3)
        let broken = ProfileFixture.rgb(gamma: 1.8).prefix(200)
        for profile in [
            Data(repeating: 1, count: 300), Data([1]), Data(broken), ProfileFixture.grey(gamma: 1),
        ] {
            let converted = try withProfile(source.image(), profile).convertedToSRGB()
            #expect(try Pixels(converted) == source)
            #expect(!converted.hasProfile)
        }
    }

    @Test func recognisesSRGBByItsNumbers() throws {
        let image = try Pixels.numbered(2, 2, 3).image()
        for (name, expected) in [("srgb", true), ("p3", false), ("cmyk", false)] {
            let tagged = try image.apply(
                "icc_transform", ["output_profile": .string(name), "input_profile": "srgb"])
            let data = try #require(tagged.blob("icc-profile-data"))
            #expect(try #require(ICCProfile(data)).isSRGB == expected, "\(name)")
        }
        let grey = ProfileFixture.grey(gamma: 2.2)
        for profile in [
            ProfileFixture.rgb(gamma: 1), ProfileFixture.rgb(gamma: 2.2, swapped: true), grey,
        ] { #expect(ICCProfile(profile)?.isSRGB == false) }
        #expect(ICCProfile(grey)?.channelCount == 1 && ICCProfile(Data()) == nil)
    }

    @Test func readsAnyBytesAsAProfileWithoutTrapping() {
        let valid = ProfileFixture.rgb(gamma: 2.2)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            var data = valid.prefix(Int.random(in: 0...valid.count, using: &random))
            for _ in 0..<Int.random(in: 0...6, using: &random) where !data.isEmpty {
                data[data.indices.randomElement(using: &random)!] = .random(
                    in: 0...255, using: &random)
            }
            _ = ICCProfile(data)?.isSRGB
        }
    }
}
