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
        let statuses: Set<Int>
        let data: @Sendable () throws -> Data

        init(_ name: String, _ statuses: Int..., data: @escaping @Sendable () throws -> Data) {
            testDescription = name
            self.statuses = Set(statuses)
            self.data = data
        }
    }

    /// - Parameter name: That of the file.
    func expect(_ row: Row, as name: String) async throws {
        let live = try await LiveServer.start(files: [name: try row.data()])
        for target in ["/_/w:50/plain/local:///\(name)@png", "/_/plain/local:///\(name)"] {
            let answer = try await live.told(target)
            #expect(
                row.statuses.contains(answer.status), "\(answer.status) \(answer.text.prefix(200))")
            if answer.status == 200 {
                let image = try Image.decoding(answer.body)
                #expect(image.pixelSize.pixelCount <= 50_000_000)
                _ = try image.bitmap()
            } else {
                #expect(answer.code.hasPrefix("source_"), "\(answer.text)")
            }
        }
        // What the header says is told, or refused likewise.
        let info = try await live.ask("/info/_/plain/local:///\(name)")
        #expect([200, 422].contains(info.status), "\(info.text)")
        try await live.expectCalm(warnings: 3)
    }

    // MARK: JPEG

    /// A JPEG file whose frame says another size.
    private static func jpeg(width: Int, height: Int) throws -> Data {
        var bytes = [UInt8](try TaggedJPEG.data())
        let frame = try #require(bytes.firstRange(of: [0xFF, 0xC0, 0x00, 0x11])).lowerBound
        bytes.replaceSubrange(frame + 5..<frame + 9, with: number(height << 16 | width))
        return Data(bytes)
    }

    /// EXIF whose first directory is also its second, and that of the details.
    private static let loopingEXIF = Data(
        [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8, 0,
            0, 0,
        ])

    static let jpegs: [Row] = [
        Row("without its last bytes", 422) { try LiveServer.sample("china.jpg").dropLast(999) },
        Row("65535 × 1", 200, 422) { try jpeg(width: 65535, height: 1) },
        Row("1 × 65535", 200, 422) { try jpeg(width: 1, height: 65535) },
        Row("65535 × 65535", 422) { try jpeg(width: 65535, height: 65535) },
        Row("0 × 0", 422) { try jpeg(width: 0, height: 0) },
        Row("wrong tables of Huffman", 200, 422) {
            var bytes = [UInt8](try TaggedJPEG.data())
            let table = try #require(bytes.firstRange(of: [0xFF, 0xC4])).lowerBound
            for index in table + 5..<table + 21 { bytes[index] = 0xFF }
            return Data(bytes)
        },
        Row("EXIF that is its own directory", 200) { try TaggedJPEG.data(exif: loopingEXIF) },
        Row("EXIF of garbage", 200) {
            try TaggedJPEG.data(exif: Data(repeating: 0xA5, count: 999))
        },
        Row("a segment that is longer than the file", 422) {
            Data([0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF, 1, 2, 3])
        },
        Row("255 parts of a profile of which one is there", 200, 422) {
            var file = try TaggedJPEG.data(profile: SwappedProfile.data)
            let part = try #require(file.firstRange(of: Data("ICC_PROFILE\0".utf8)))
            file[part.upperBound + 1] = 255
            return file
        },
        Row("a profile of garbage", 200) {
            try TaggedJPEG.data(profile: Data(repeating: 0xA5, count: 600))
        },
        Row("a profile of 16 MB", 200, 422) {
            let file = try TaggedJPEG.data()
            let parts = (1...255).map { part in
                Data([0xFF, 0xE2, 0xFF, 0xFF]) + Data("ICC_PROFILE\0".utf8) + [part, 255]
                    + Data(count: 0xFFFF - 16)
            }
            return file.prefix(2) + parts.reduce(Data(), +) + file.dropFirst(2)
        },
        Row("EXIF that announces texts of 4 GB", 200) {
            var exif = TaggedJPEG.exif(texts: [(0x010F, "Camera"), (0x0110, "Model")])
            let length = try #require(exif.firstRange(of: Data([7, 0, 0, 0]))?.lowerBound)
            exif.replaceSubrange(length..<length + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
            return try TaggedJPEG.data(exif: exif)
        },
        Row("EXIF that announces a small picture of 4 GB", 200) {
            // Two entries: where it is, and how long.
            let entries: [UInt8] = [
                0x01, 0x02, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x02, 0x02, 4, 0, 1, 0, 0, 0, 0xFF, 0xFF,
                0xFF, 0xFF,
            ]
            return try TaggedJPEG.data(
                exif: Data("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 14, 0, 0, 0, 2, 0] + entries
                    + [0, 0, 0, 0])
        },
        Row("several pictures of which one has 4 GB", 200) {
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
    ]

    @Test(arguments: jpegs) func aJPEGThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row, as: "a.jpg")
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

    /// One with pixels of these bytes, if any.
    private static func file(_ header: PNGFixture.Chunk, _ pixels: Data? = Data()) -> Data {
        let pixels = pixels.map { [PNGFixture.Chunk(type: "IDAT", data: $0)] } ?? []
        return PNGFixture.file([header] + pixels + [end])
    }

    static let pngs: [Row] = [
        Row("30,000 × 30,000", 422) {
            file(header(30_000, 30_000, 1, 0), Data([0x78, 0x9C, 3, 0]))
        },
        Row("2³¹ − 1 pixels in each row", 422) { file(header(1 << 31 - 1, 1)) },
        Row("0 × 0", 422) { file(header(0, 0)) },
        Row("no pixels", 422) { file(header(9, 9), nil) },
        Row("pixels of garbage", 422) { file(header(99, 99), Data("rubbish".utf8)) },
        Row("10,000 texts", 200, 422) {
            let text = PNGFixture.Chunk(type: "tEXt", data: Data("a\0b".utf8))
            var chunks = PNGFixture.chunks(of: small)
            chunks.insert(contentsOf: Array(repeating: text, count: 10_000), at: 1)
            return PNGFixture.file(chunks)
        },
        Row("16 bits of grey with opacity", 200) {
            // One pixel: half grey, half there.
            let row: [UInt8] = [0, 0x80, 0, 0x80, 0]
            let stream = Data([0x78, 1, 1, 5, 0, 0xFA, 0xFF] + row) + Data(number(0x0305_0101))
            return file(header(1, 1, 16, 4), stream)
        },
        Row("interlaced, 8000 × 8000", 422) {
            file(header(8000, 8000, 8, 2, 1), Data([0x78, 0x9C, 3, 0]))
        },
        Row("rubbish behind the picture", 200) { small + Data(repeating: 0xA5, count: 999) },
    ]

    @Test(arguments: pngs) func aPNGThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row, as: "a.png")
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
