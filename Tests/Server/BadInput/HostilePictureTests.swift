import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Pictures that are damaged, that lie, or that are small as files and large as work. Each is answered with a
/// picture or with 422, in time, and the server goes on.
@Suite struct HostilePictureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let file: String
        let statuses: Set<Int>
        let data: @Sendable () throws -> Data

        init(
            _ name: String, _ file: String, _ statuses: Int...,
            data: @escaping @Sendable () throws -> Data
        ) {
            testDescription = name
            self.file = file
            self.statuses = Set(statuses)
            self.data = data
        }
    }

    func expect(_ row: Row) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(try row.data(), to: row.file)
        let live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        for target in ["/_/w:50/plain/local:///\(row.file)@png", "/_/plain/local:///\(row.file)"] {
            let answer = try await live.ask(target, fields: ["Accept": "application/json"])
            #expect(
                row.statuses.contains(answer.status), "\(answer.status) \(answer.text.prefix(200))")
            if answer.status == 200 {
                let image = try Image.decoding(answer.body)
                #expect(image.pixelSize.pixelCount <= 50_000_000)
                _ = try image.bitmap()
            } else {
                #expect(answer.text.contains("\"code\":\"source_"), "\(answer.text)")
            }
        }
        // What the header says is told, or refused likewise.
        let info = try await live.ask("/info/_/plain/local:///\(row.file)")
        #expect([200, 422].contains(info.status), "\(info.text)")
        try await live.expectCalm(warnings: 3)
    }

    // MARK: JPEG

    static func sample(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: #require(LiveServer.samples) + "/\(name)"))
    }

    /// A JPEG file whose frame says another size or depth.
    private static func jpeg(
        width: Int? = nil, height: Int? = nil, bits: UInt8? = nil
    ) throws -> Data {
        var bytes = [UInt8](try TaggedJPEG.data())
        let frame = try #require(bytes.firstRange(of: [0xFF, 0xC0, 0x00, 0x11])).lowerBound
        if let bits { bytes[frame + 4] = bits }
        if let height {
            (bytes[frame + 5], bytes[frame + 6]) = (UInt8(height >> 8), UInt8(height & 0xFF))
        }
        if let width {
            (bytes[frame + 7], bytes[frame + 8]) = (UInt8(width >> 8), UInt8(width & 0xFF))
        }
        return Data(bytes)
    }

    /// Red, in the colours of print, as Pillow writes it.
    private static func cmyk(profile: Data? = nil) -> Data {
        let file =
            Data(
                base64Encoded: """
                    /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAIBgYHBgUIBwcHCQkICgwUDQwLCwwZEhMPFB0aHx4dGhwcICQuJyAi\
                    LCMcHCg3KSwwMTQ0NB8nOT04MjwuMzQy/8AAFAgACAAQBEMRAE0RAFkRAEsRAP/EABYAAQEBAAAAAAAAAAAA\
                    AAAAAAAHCP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAOBEMATQBZAEsAAD8Av7P7P6/gD//Z
                    """) ?? Data()
        guard let profile else { return file }
        let content = Data("ICC_PROFILE\0".utf8) + [1, 1] + profile
        let length = content.count + 2
        return file.prefix(2) + [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 0xFF)] + content
            + file.dropFirst(2)
    }

    @Test func theColoursOfPrintAreShown() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.cmyk(), to: "a.jpg")
        let live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        let answer = try await live.ask("/_/plain/local:///a.jpg@png")
        let colour = try Image.decoding(answer.body).bitmap().data.prefix(3).map { Int($0) }
        #expect(colour[0] > 200 && colour[1] < 80 && colour[2] < 80, "\(colour)")
    }

    /// EXIF whose first directory is also its second, and that of the details.
    private static let loopingEXIF = Data(
        [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8, 0,
            0, 0,
        ])

    static let jpegs: [Row] = [
        Row("truncated at 10 %", "a.jpg", 422) {
            let all = try sample("china.jpg"); return all.prefix(all.count / 10)
        },
        Row("truncated at 50 %", "a.jpg", 422) {
            let all = try sample("china.jpg"); return all.prefix(all.count / 2)
        },
        Row("truncated at 99 %", "a.jpg", 422) {
            let all = try sample("china.jpg"); return all.prefix(all.count * 99 / 100)
        },
        Row("progressive, truncated at 50 %", "a.jpg", 422) {
            let all = try sample("astronaut-progressive.jpg"); return all.prefix(all.count / 2)
        },
        Row("12 bits", "a.jpg", 422) { try jpeg(bits: 12) },
        Row("65535 × 1", "a.jpg", 200, 422) { try jpeg(width: 65535, height: 1) },
        Row("1 × 65535", "a.jpg", 200, 422) { try jpeg(width: 1, height: 65535) },
        Row("65535 × 65535", "a.jpg", 422) { try jpeg(width: 65535, height: 65535) },
        Row("0 × 0", "a.jpg", 422) { try jpeg(width: 0, height: 0) },
        Row("wrong tables of Huffman", "a.jpg", 200, 422) {
            var bytes = [UInt8](try TaggedJPEG.data())
            let table = try #require(bytes.firstRange(of: [0xFF, 0xC4])).lowerBound
            for index in table + 5..<table + 21 { bytes[index] = 0xFF }
            return Data(bytes)
        },
        Row("500 scans", "a.jpg", 200, 422) {
            let bytes = [UInt8](try sample("astronaut-progressive.jpg"))
            let scans = bytes.indices.dropLast().filter {
                bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA
            }
            let last = try #require(scans.last)
            let scan = Array(bytes[last..<bytes.count - 2])
            return Data(bytes[..<last]) + Data((0..<500).flatMap { _ in scan })
                + Data([0xFF, 0xD9])
        },
        Row("EXIF that is its own directory", "a.jpg", 200) {
            try TaggedJPEG.data(exif: loopingEXIF)
        },
        Row("EXIF of garbage", "a.jpg", 200) {
            try TaggedJPEG.data(exif: Data(repeating: 0xA5, count: 999))
        },
        Row("orientation 0", "a.jpg", 200) {
            try TaggedJPEG.data(exif: TaggedJPEG.exif(orientation: 0))
        },
        Row("orientation 9", "a.jpg", 200) {
            try TaggedJPEG.data(exif: TaggedJPEG.exif(orientation: 9))
        },
        Row("a segment that is longer than the file", "a.jpg", 422) {
            Data([0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF, 1, 2, 3])
        },
        Row("255 parts of a profile of which one is there", "a.jpg", 200, 422) {
            var file = try TaggedJPEG.data(profile: SwappedProfile.data)
            let part = try #require(file.firstRange(of: Data("ICC_PROFILE\0".utf8)))
            file[part.upperBound + 1] = 255
            return file
        },
        Row("a profile of garbage", "a.jpg", 200) {
            try TaggedJPEG.data(profile: Data(repeating: 0xA5, count: 600))
        },
        Row("a profile for another space", "a.jpg", 200) {
            var profile = SwappedProfile.data
            profile.replaceSubrange(16..<20, with: Data("CMYK".utf8))
            return try TaggedJPEG.data(profile: profile)
        },
        Row("a profile for Lab", "a.jpg", 200) {
            var profile = SwappedProfile.data
            profile.replaceSubrange(20..<24, with: Data("Lab ".utf8))
            return try TaggedJPEG.data(profile: profile)
        },
        Row("the colours of print", "a.jpg", 200) { cmyk() },
        Row("the colours of print with a profile of another space", "a.jpg", 200, 422) {
            cmyk(profile: SwappedProfile.data)
        },
        Row("the colours of print with a profile of garbage", "a.jpg", 200, 422) {
            cmyk(profile: Data("garbage".utf8))
        },
        Row("a profile of 16 MB", "a.jpg", 200, 422) {
            let file = try TaggedJPEG.data()
            let parts = (1...255).map { part in
                Data([0xFF, 0xE2, 0xFF, 0xFF]) + Data("ICC_PROFILE\0".utf8) + [part, 255]
                    + Data(count: 0xFFFF - 16)
            }
            return file.prefix(2) + parts.reduce(Data(), +) + file.dropFirst(2)
        },
        Row("EXIF that announces texts of 4 GB", "a.jpg", 200) {
            var exif = TaggedJPEG.exif(texts: [(0x010F, "Camera"), (0x0110, "Model")])
            let length = try #require(exif.firstRange(of: Data([7, 0, 0, 0]))?.lowerBound)
            exif.replaceSubrange(length..<length + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
            return try TaggedJPEG.data(exif: exif)
        },
        Row("EXIF that announces a small picture of 4 GB", "a.jpg", 200) {
            // Two entries: where it is, and how long.
            let entries: [UInt8] = [
                0x01, 0x02, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x02, 0x02, 4, 0, 1, 0, 0, 0, 0xFF, 0xFF,
                0xFF, 0xFF,
            ]
            return try TaggedJPEG.data(
                exif: Data("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 14, 0, 0, 0, 2, 0] + entries
                    + [0, 0, 0, 0])
        },
        Row("several pictures of which one has 4 GB", "a.jpg", 200) {
            // MPF (CIPA DC-007) with one entry.
            let directory: [UInt8] = [
                1, 0, 2, 0xB0, 7, 0, 16, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0,
            ]
            let content = Data("MPF\0II*\0".utf8) + [8, 0, 0, 0] + directory
            let file = try TaggedJPEG.data()
            return file.prefix(2) + [0xFF, 0xE2, 0, UInt8(content.count + 2)] + content
                + file.dropFirst(2)
        },
        Row("three bytes", "a.jpg", 422) { Data([0xFF, 0xD8, 0xFF]) },
    ]

    @Test(arguments: jpegs) func aJPEGThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row)
    }

    // MARK: PNG

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func header(
        _ width: Int, _ height: Int, _ bits: UInt8 = 8, _ kind: UInt8 = 2, _ interlace: UInt8 = 0
    ) -> PNGFixture.Chunk {
        PNGFixture.Chunk(
            type: "IHDR",
            data: Data(number(width) + number(height) + [bits, kind, 0, 0, interlace]))
    }

    private static let end = PNGFixture.Chunk(type: "IEND", data: Data())
    private static let small = PNGFixture.data(.gradient(width: 9, height: 9), as: .rgb8)

    private static func texts(_ count: Int, _ text: PNGFixture.Chunk) -> Data {
        var chunks = PNGFixture.chunks(of: small)
        chunks.insert(contentsOf: Array(repeating: text, count: count), at: 1)
        return PNGFixture.file(chunks)
    }

    static let pngs: [Row] = [
        Row("30,000 × 30,000", "a.png", 422) {
            PNGFixture.file([
                header(30_000, 30_000, 1, 0), .init(type: "IDAT", data: Data([0x78, 0x9C, 3, 0])),
                end,
            ])
        },
        Row("2³¹ − 1 pixels in each row", "a.png", 422) {
            PNGFixture.file([header(1 << 31 - 1, 1), .init(type: "IDAT", data: Data()), end])
        },
        Row("0 × 0", "a.png", 422) {
            PNGFixture.file([header(0, 0), .init(type: "IDAT", data: Data()), end])
        },
        Row("a wrong checksum", "a.png", 200, 422) {
            var file = small
            file[40] ^= 0xFF
            return file
        },
        Row("no pixels", "a.png", 422) { PNGFixture.file([header(9, 9), end]) },
        Row("pixels of garbage", "a.png", 422) {
            PNGFixture.file([header(99, 99), .init(type: "IDAT", data: Data("rubbish".utf8)), end])
        },
        Row("10,000 texts", "a.png", 200, 422) {
            texts(10_000, .init(type: "tEXt", data: Data("a\0b".utf8)))
        },
        Row("a text that claims 2 GiB", "a.png", 422) {
            Data(small.prefix(33)) + Data(number(1 << 31 - 1)) + Data("zTXta\0\0".utf8)
                + small.dropFirst(33)
        },
        Row("a text of 100 MB in 600 KB", "a.png", 200, 422) {
            let bomb = DeflateBomb.zlib(zeros: 100_000_000)
            return texts(1, .init(type: "zTXt", data: Data("a\0\0".utf8) + bomb))
        },
        Row("ten texts of 100 MB in 600 KB each", "a.png", 200, 422) {
            let bomb = DeflateBomb.zlib(zeros: 100_000_000)
            return texts(10, .init(type: "zTXt", data: Data("a\0\0".utf8) + bomb))
        },
        Row("a profile of 100 MB in 600 KB", "a.png", 200, 422) {
            let bomb = DeflateBomb.zlib(zeros: 100_000_000)
            return texts(1, .init(type: "iCCP", data: Data("a\0\0".utf8) + bomb))
        },
        Row("a profile that claims 2 GiB", "a.png", 422) {
            Data(small.prefix(33)) + Data(number(1 << 31 - 1)) + Data("iCCPa\0\0".utf8)
                + small.dropFirst(33)
        },
        Row("an animation", "a.png", 200) {
            APNGFixture(
                (0..<3).map { _ in APNGFixture.Frame(.gradient(width: 9, height: 9)) }
            ).data
        },
        Row("an animation that announces 4 billion frames", "a.png", 200, 422) {
            var chunks = PNGFixture.chunks(of: small)
            chunks.insert(APNGFixture.control(frames: .max, loops: 0), at: 1)
            return PNGFixture.file(chunks)
        },
        Row("16 bits of grey with opacity", "a.png", 200) {
            // One pixel: half grey, half there.
            let row: [UInt8] = [0, 0x80, 0, 0x80, 0]
            let stream = Data([0x78, 1, 1, 5, 0, 0xFA, 0xFF] + row) + Data(number(0x0305_0101))
            return PNGFixture.file([header(1, 1, 16, 4), .init(type: "IDAT", data: stream), end])
        },
        Row("interlaced, 8000 × 8000", "a.png", 422) {
            PNGFixture.file([
                header(8000, 8000, 8, 2, 1), .init(type: "IDAT", data: Data([0x78, 0x9C, 3, 0])),
                end,
            ])
        },
        Row("rubbish behind the picture", "a.png", 200) {
            small + Data(repeating: 0xA5, count: 999)
        },
        Row("0 bytes", "a.png", 422) { Data() },
    ]

    @Test(arguments: pngs) func aPNGThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row)
    }

    @Test(
        .enabled(if: Corpus.directory != nil), arguments: ["found", "broken", "bombs", "formats"])
    func filesThatWereFoundArePicturesOrRefused(folder: String) async throws {
        let root = try #require(Corpus.directory)
        let live = try await LiveServer.start { $0.sources.local.root = root.path }
        for file in Corpus.files(in: folder) where file.pathExtension != "md" {
            let target = "/_/w:50/plain/local:///\(folder)/\(file.lastPathComponent)@png"
            let answer = try await live.ask(target)
            #expect([200, 422].contains(answer.status), "\(file.lastPathComponent) \(answer.text)")
        }
        try await live.expectCalm(warnings: .max)
    }
}
