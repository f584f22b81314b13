import CCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// What the colours of HEIC files mean, which libheif hands on as they are stored.
@Suite(.enabled(if: ImageFormat.readable.contains(.HEIC) && ImageFormat.writable.contains(.HEIC)))
struct HEIFColourTests {
    private static let steps = (0..<8).map { UInt8(20 + 30 * $0) }

    private static func ramp() -> PixelGrid {
        PixelGrid(width: 64, height: 64) { x, _ in Pixel(gray: steps[x / 8]) }
    }

    /// The same numbers mean the same in both formats: PQ, HLG, BT.2020, linear light.
    @Test(arguments: [(9, 16), (9, 18), (9, 13), (1, 8), (12, 13), (12, 16), (1, 13), (9, 14)])
    func numbersMeanWhatTheyMeanInAVIF(_ primaries: Int, _ transfer: Int) throws {
        let grid = Self.ramp()
        let colours = HEIFFixture.colours(primaries: primaries, transfer: transfer)
        let expected = try decoded(AVIFFixture(primaries: primaries, transfer: transfer).data(grid))
        let file = try HEIFFixture(grid.bitmap(channels: 3).vipsImage(), colours: [colours]).data
        #expect(try decoded(file).greatestDifference(from: expected) <= 1)
        #expect(
            try ImageInformation(of: file).colorProfile
                == .coded(primaries: primaries, transfer: transfer))
        let small = try decoded(file, at: PixelSize(32, 32))
        for x in [2, 14, 26] {
            let pairs = zip(small.samples(x, 9), expected.samples(2 * x, 9))
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(x)")
        }
    }

    @Test func samplesOfTenBitsAreConvertedToo() throws {
        let grid = Self.ramp()
        let image = try grid.bitmap(channels: 3).vipsImage().cast(to: .ushort)
            .linear(multiply: [257], add: [0]).cast(to: .ushort).interpreted(as: .rgb16)
        let colours = HEIFFixture.colours(primaries: 9, transfer: 16)
        let found = try decoded(HEIFFixture(image, bits: 10, colours: [colours]).data)
        #expect(found.depth == .sixteen)
        let expected = try decoded(AVIFFixture(primaries: 9, transfer: 16).data(grid))
        #expect(try found.greatestDifference(from: expected) < 2)
    }

    /// BT.2020 and PQ in its sequence parameters, written by libheif; no box says it. Eight steps of 8192 of 65536.
    private static let streamOnly = """
        AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAVZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAA\
        AAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABegABAAAAAAAABdgAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAA\
        AAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA1mlwcnAAAAC3aXBjbwAAAHhodmNDAQQIAAAAnDgAAAAA//AA/P/6\
        +gAADwNgAAEAF0ABDAH//wQIAAADAJw4AAADAAD/ugJAYQABACtCAQEECAAAAwCcOAAAAwAA/5AEECCbLdSSU1zc\
        JEAkEAAAAwGQAAADABCAYgABAAhEAcFwMGCRIAAAABNmcmVlbmNseAAJABAACYAAAAAUaXNwZQAAAAAAAABAAAAA\
        QAAAABBwaXhpAAAAAAMKCgoAAAAXaXBtYQAAAAAAAAABAAEEgQIDBAAABeBtZGF0AAAF1CgBrwW4FIPqQz///ff/\
        vr/vb/d39vf29/b39vf2//b/9v/2//b/9v/2//b//a7wGozXAM/Iv4/eJW+KxKxKxKxKx+x+x+x+x+x+x+x/mKa1\
        35gCegAAsND7oJRsKf6zqzqzqzq2b2b2b2b2b2b2b2ZcAKaAAHJhlcJF+sLwsmsmsmsmtDVDVDVDVDVDVDVC1Nfz\
        Qujf//sB1vAL0vthD9tYb7X2thi8gADnfXn+ySPIkGbyNHmkXF4uLqOE43//7AdbwC9L7YQ/bWG+19rUkAAgzYEm\
        LDnl8AxhflUZW/w9/g6fPsRcjxAAAAMAGfkX8fvErfFYlYlYlYlY/Y/Y/Y/Y/Y/Y/Y9QAJQACq0pOj0HnaeDzDzD\
        zDzD9v9v9v9v9v9v9v5Jai8A0wAPu9D3glwQwPgfgfgfgfheheheheheheheghABJgAcmGVwkX6wvCyayayaya0N\
        UNUNUNUNUNUNSmIFrN19YL//0pKKZAagFtuwubTfK+UkiBAA14Z6aMzsWaDtFnd6FJyeTk67kdH//72d3gtuVoVE\
        NC5IgZAxjUABSUZXdXH3UAsxVBoW9NLVaWoQULWVU4ANyDqkervaxLwysiifGIikREtA8n//+WPJosPvqo7tVOFA\
        +B730AAsZvbZJXosigrrJabHzU2mpr0pGLgAh7N8et/XLvOLy8Z8Rd3e7u8zuGF//6UlFMgNQC23YXNpvlfKSNAC\
        /k/sH0pkzObZM2/q8/P5+ft+dFANkf//u13LiaYlYrurGihAiBCIdFAE6TsfY1YNYCq8WGOdeDxGHiCbau//+1LZ\
        ikv55DxDIiz42xtaVgAyg4SwkAdlAbeRRACc1LUaWnP19SvACENXWbBYimqqh1VZji6+xxdjj7wABjx74xX/M1VV\
        Oqqt2mbm7TN2nMlbACnIcOqKGRRWwO0YpNo32CvsARoKP//Wyq0XXfw3m7G/cVkbIxRYAjLCsWb6ogZ5h4HGMIsn\
        K5OUsN8VAA6Hzp+CjnP39ej/BJnVhaLCyiCEwAyI7qzDB4YaBq2HZKfdjabGzSGLgABlRuYqb3gi7u093hGdaGjO\
        tGeL3ABbjGJXipgaiIcBET/YD4/sB/Yw9AAC7FoSck+gD//zgAF+YDw/MB+Zf6ACjJAULm5kqZmOszSAob3AUOAp\
        r6AAElWphj+nqWcF8lsNfxY2WxskZmbf/+hxPkFYPZ56pPVOVzLmLwQBeirGMMZhE8iWhQzlnQ4RBwfGvkgAEOZ4\
        j8X+rm+B/50SiSv8Hf4Gjyjf/+lJRTIDUAtt2Fzab5XykjQBiyE1wCJb+acH/oW1JcnM5OWtNbvSAAHm7XNejJq3\
        iASuBHKgWFwsLSMBz//9JuiTvqHQSzKChy2xtjE+ADQCrKafrJdoKv3duJJOrxdXcbVnAAIY0VITQMfyNGF8sxFB\
        j5PHyNfswAH05ZMByUs4mY9OSdI+ICQQEQ3/zzoAA+nLJgOSlnEzHpyTpHxASCAiG/U3//oKTvxHzd6KZPSyk8R4\
        g30AcEC1FpVlxAPQ0Qjk6rw9Hh5XBnQABREknlpMl/WBbP28HF+bpc3QX1qf//iLwrIY3T2bue1VKJUSk9gAlyrE\
        FCws4muJ2KWT2R+gz9AccsQAB3/FnTsXW87uzt3hssnR2WTstilABqRBYTTd3lmZfTM2l/VFS/qmAJkAAFsMqlna\
        wSCqqSVVg9sRke2I9vFSAFPQvntlE/mZmDMzXgaurwNXgdTyAASpXyELZS+kbNTpb585PUaeoPuRX//408UCUeNh\
        7MsP2TC2FrToAIywrFm+qIGeYeBxjCLJyuTlLDfwAAg7W8lWDJUzetVNc8Ye3u9vc5vFwAijIUak8/2Ej21hwENF\
        PU6eov+QQACaqM0y7lKSqqgVVaRbkZItyRcwxACWK1VHv8PJ3dtbvAh2o6Q7Uh3zBAAKOjvQlLcCREQYiI3CVtbh\
        K3CavkAKkgpO/ZrODMyfmZ8ARXWAIsAWs+A=
        """

    @Test func theBitStreamTellsWhereNoBoxDoes() throws {
        let file = try #require(Data(base64Encoded: Self.streamOnly))
        #expect(try ImageInformation(of: file).colorProfile == .coded(primaries: 9, transfer: 16))
        let grid = PixelGrid(width: 64, height: 64) { x, _ in Pixel(gray: UInt8(x / 8 * 32)) }
        let expected = try decoded(AVIFFixture(primaries: 9, transfer: 16).data(grid))
        let found = try decoded(file)
        for x in stride(from: 4, to: 64, by: 8) {
            #expect(abs(Int(found.samples(x, 9)[0]) - Int(expected.samples(x, 9)[0])) <= 2, "\(x)")
        }
    }

    @Test func aProfileCountsMoreThanNumbers() throws {
        let grid = try Self.ramp().bitmap(channels: 3)
        let file = try HEIFFixture(
            grid.vipsImage(),
            colours: [
                HEIFFixture.profile(iccProfile("srgb")),
                HEIFFixture.colours(primaries: 9, transfer: 16),
            ]
        ).data
        #expect(try decoded(file).greatestDifference(from: grid) <= 1)
    }

    /// Linear light: 32, 96, 160 and 224 are 99, 165, 208 and 241 in sRGB.
    @Test(arguments: [
        (true, [99, 165, 208, 241]), (false, [32, 96, 160, 224]),
    ])
    func profilesForGreyAreObeyedWhereThereIsBrightnessAlone(
        _ saysGrey: Bool, _ expected: [Int]
    ) throws {
        let grid = PixelGrid(width: 64, height: 64) { x, _ in
            Pixel(gray: [32, 96, 160, 224][x / 16])
        }
        let profile = HEIFFixture.profile(GreyProfileFixture.data(gamma: 1))
        let image = try grid.bitmap(channels: 3).vipsImage()
        let file = try HEIFFixture(image, colours: [profile], saysGrey: saysGrey).data
        for bitmap in try [decoded(file), decoded(file, at: PixelSize(32, 32))] {
            for (index, level) in expected.enumerated() {
                let found = bitmap.samples((2 * index + 1) * bitmap.size.width / 8, 5)
                #expect(found.allSatisfy { abs(Int($0) - level) <= 1 }, "\(found)")
            }
        }
    }

    @Test(
        arguments: [
            (nil, "pixels are stored uncompressed (unci)"),
            ("defl", "uncompressed pixels (unci) are packed with deflate"),
            ("brot", "uncompressed pixels (unci) are packed with Brotli"),
        ] as [(String?, String)])
    func uncompressedFilesAreUnsupportedByName(_ packing: String?, _ reason: String) throws {
        var properties = [
            HEIFFixture.box("uncC", HEIFFixture.number(1 << 24, 4) + Data("rgba".utf8)),
            HEIFFixture.size(8, 8),
        ]
        if let packing {
            let kind = HEIFFixture.number(0, 4) + Data(packing.utf8) + Data([2])
            properties.append(HEIFFixture.box("cmpC", kind))
        }
        let pixels = Data(repeating: 7, count: 256)
        let file = HEIFFixture(type: "unci", properties: properties, pixels: pixels).data
        #expect(try ImageInformation(of: file).size == PixelSize(8, 8))
        do {
            // A libheif that reads it is right, too.
            #expect(try decoded(file).size == PixelSize(8, 8))
        } catch {
            let expected = ImageCodingError.unsupported(
                .HEIC, reason: "its \(reason), which is not read")
            #expect(error as? ImageCodingError == expected)
        }
    }

    @Test(arguments: [
        ("avc1", "H.264"), ("j2k1", "JPEG 2000"), ("vvc1", "H.266"), ("jpeg", "JPEG"),
    ])
    func otherCodecsAreNamed(_ type: String, _ name: String) throws {
        let file = HEIFFixture(
            type: type, properties: [HEIFFixture.size(8, 8)], pixels: Data(repeating: 7, count: 64))
        let expected = ImageCodingError.unsupported(
            .HEIC, reason: "its pixels are stored as \(name), which is not read")
        #expect(throws: expected) { try decoded(file.data) }
    }
}

/// Profiles for grey in AVIF files of brightness alone.
@Suite(.enabled(if: ImageFormat.readable.contains(.AVIF)))
struct AVIFGreyProfileTests {
    @Test(arguments: [1.0, 1.8, 2.2])
    func areObeyed(_ gamma: Double) throws {
        let grid = PixelGrid(width: 64, height: 16) { x, _ in Pixel(gray: UInt8(x * 4)) }
        let profile = GreyProfileFixture.data(gamma: gamma)
        var fixture = AVIFFixture(format: AVIF_PIXEL_FORMAT_YUV400)
        fixture.matrix = AVIF_MATRIX_COEFFICIENTS_BT601
        fixture.profile = profile
        let found = try decoded(fixture.data(grid))
        for x in 0..<64 {
            let expected = 255 * SRGB.sample(pow(Double(x * 4) / 255, gamma))
            #expect(found.samples(x, 3).allSatisfy { abs(Double($0) - expected) <= 1.5 })
        }
        // The same of other formats.
        let colours = try grid.bitmap(channels: 3)
        let grey = try colours.vipsImage().withOneColour()
            .settingMetadata([("icc-profile-data", .blob(profile))])
        for file in [
            try grey.encoded("pngsave_buffer"), try grey.encoded("jpegsave_buffer", ["Q": 100]),
        ] {
            #expect(try decoded(file).greatestDifference(from: found) <= 2)
        }
        // A file with colours has nothing to do with it.
        let colourful = try AVIFFixture(profile: profile).data(grid)
        #expect(try decoded(colourful).greatestDifference(from: colours) == 0)
    }
}
