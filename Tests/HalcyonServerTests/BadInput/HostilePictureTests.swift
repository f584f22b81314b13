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

    private func expect(_ row: Row) async throws {
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

    private static func sample(_ name: String) throws -> Data {
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
        Row("three bytes", "a.jpg", 422) { Data([0xFF, 0xD8, 0xFF]) },
    ]

    @Test(arguments: jpegs) func aJPEGThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row)
    }

    // MARK: PNG

    private static func number(_ value: Int) -> [UInt8] {
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
            let stream = Data([0x78, 1, 1, 5, 0, 0xFA, 0xFF] + row) + Data(number(0x0385_0101))
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

    // MARK: GIF, WebP, AVIF, JPEG XL

    /// Frames of one pixel on a square.
    private static func gif(canvas: Int, frames: Int, delay: UInt8 = 1, left: Int = 0) -> Data {
        func little(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
        let palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0]
        var file = Data("GIF89a".utf8)
        for part in [little(canvas), little(canvas), [0x91, 0, 0], palette, [0x21, 0xFF, 11]] {
            file.append(contentsOf: part)
        }
        file.append(contentsOf: "NETSCAPE2.0".utf8)
        file.append(contentsOf: [3, 1, 0, 0, 0])
        var frame: [UInt8] = [0x21, 0xF9, 4, 0, delay, 0, 0, 0, 0x2C]
        frame += little(left)
        frame += [0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        for _ in 0..<frames { file.append(contentsOf: frame) }
        return file + [0x3B]
    }

    private static func riff(_ chunks: [(String, Data)]) -> Data {
        func little(_ value: Int) -> Data { Data(number(value).reversed()) }
        var content = Data("WEBP".utf8)
        for (name, data) in chunks {
            content += Data(name.utf8) + little(data.count) + data
            if !data.count.isMultiple(of: 2) { content.append(0) }
        }
        return Data("RIFF".utf8) + little(content.count) + content
    }

    /// A canvas with these features, its sides less one in three bytes each.
    private static func canvas(_ flags: UInt8, _ side: Int) -> (String, Data) {
        let bytes = (0..<3).map { UInt8(truncatingIfNeeded: (side - 1) >> (8 * $0)) }
        return ("VP8X", Data([flags, 0, 0, 0] + bytes + bytes))
    }

    static let others: [Row] = [
        Row("GIF of 100,000 frames", "a.gif", 200, 422) { gif(canvas: 2, frames: 100_000) },
        Row("GIF of 65,535 × 65,535 with frames of 1 × 1", "a.gif", 422) {
            gif(canvas: 65535, frames: 3)
        },
        Row("GIF without an end", "a.gif", 200, 422) { gif(canvas: 4, frames: 3).dropLast() },
        Row("GIF cut in a frame", "a.gif", 200, 422) { gif(canvas: 4, frames: 3).dropLast(9) },
        Row("GIF without delay", "a.gif", 200) { gif(canvas: 4, frames: 3, delay: 0) },
        Row("GIF with frames beyond its edge", "a.gif", 200, 422) {
            gif(canvas: 4, frames: 3, left: 65535)
        },
        Row("GIF that is a head only", "a.gif", 422) { gif(canvas: 4, frames: 0) },
        Row("WebP, an animation with a canvas of 4 GB", "a.webp", 422) {
            riff([canvas(2, 32_768), ("ANIM", Data(count: 6)), ("ANMF", Data(count: 24))])
        },
        Row("WebP without a picture", "a.webp", 422) { riff([canvas(0, 9)]) },
        Row("WebP with a profile of 25 MB", "a.webp", 422) {
            riff([canvas(0x20, 9), ("ICCP", Data(count: 25_000_000))])
        },
        Row("WebP that claims 4 GiB", "a.webp", 422) {
            var file = try sample("coffee.webp")
            file.replaceSubrange(4..<8, with: [0xFE, 0xFF, 0xFF, 0xFF])
            return file
        },
        Row("AVIF cut at its half", "a.avif", 422) {
            let all = try sample("kingfisher.avif"); return all.prefix(all.count / 2)
        },
        Row("AVIF of boxes of garbage", "a.avif", 422) {
            var file = [UInt8](try sample("kingfisher.avif"))
            for index in 40..<200 { file[index] = 0xA5 }
            return Data(file)
        },
        Row("JPEG XL of two bytes", "a.jxl", 422) { Data([0xFF, 0x0A]) },
        Row("BMP that claims 30,000 × 30,000", "a.bmp", 422) {
            var file = BMPFixture.data(.gradient(width: 4, height: 4))
            file.replaceSubrange(18..<26, with: Data([0x30, 0x75, 0, 0, 0x30, 0x75, 0, 0]))
            return file
        },
        Row("BMP from top to bottom", "a.bmp", 200) {
            var file = BMPFixture.data(.gradient(width: 4, height: 4))
            file.replaceSubrange(22..<26, with: Data([0xFC, 0xFF, 0xFF, 0xFF]))
            return file
        },
        Row("BMP of a negative width", "a.bmp", 422) {
            var file = BMPFixture.data(.gradient(width: 4, height: 4))
            file.replaceSubrange(18..<22, with: Data([0xFC, 0xFF, 0xFF, 0xFF]))
            return file
        },
        Row("ICO of many pictures", "a.ico", 200, 422) {
            ICOFixture.data((1...64).map { .gradient(width: $0, height: $0) })
        },
        Row("TIFF of 10,000 directories", "a.tif", 422) {
            // Each has no entry, and leads to the next.
            var file = Data("II*\0".utf8) + [8, 0, 0, 0]
            for index in 1...10_000 {
                file += Data([0, 0]) + Data(number(8 + 6 * index).reversed())
            }
            return file
        },
        Row("TIFF whose directory is itself", "a.tif", 422) {
            Data("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 8, 0, 0, 0]
        },
        Row("BigTIFF of nothing", "a.tif", 422) {
            Data(
                [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]
                    + Array(repeating: 0, count: 16))
        },
    ]

    @Test(arguments: others) func anAnimationOrAnotherThatIsWrongIsDrawnOrRefused(row: Row)
        async throws
    {
        try await expect(row)
    }

    @Test(arguments: [
        ("w:15", "avif"), ("w:1", "avif"), ("rs:force:1:1", "webp"), ("w:15", "jxl"),
        ("w:1", "gif"),
    ])
    func tinyPicturesAreWrittenInAnyFormatOrAnother(option: String, format: String) async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask("/_/\(option)/plain/local:///china.jpg@\(format)")
        #expect([200, 422].contains(answer.status), "\(answer.text)")
        if answer.status == 200 {
            #expect(try Image.decoding(answer.body).pixelSize.width <= 15)
        }
        try await live.expectCalm()
    }

    // MARK: SVG

    private static func svg(
        _ content: String, size: String = "width=\"20\" height=\"20\"", head: String = ""
    ) -> Data {
        Data(
            """
            \(head)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \(size)>\
            \(content)</svg>
            """.utf8)
    }

    private static let laughs =
        "<!DOCTYPE svg [<!ENTITY a0 'ha'>"
        + (1...11).map { n in
            "<!ENTITY a\(n) '\(String(repeating: "&a\(n - 1);", count: 10))'>"
        }.joined() + "]>"

    static let drawings: [Row] = [
        Row("a billion laughs", "a.svg", 200, 422) { svg("<text>&a11;</text>", head: laughs) },
        Row("an external entity", "a.svg", 200, 422) {
            svg(
                "<text>&x;</text>", head: "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
            )
        },
        Row("a picture of file:", "a.svg", 200, 422) {
            svg("<image href=\"file:///etc/passwd\" width=\"9\" height=\"9\"/>")
        },
        Row("10⁹ × 10⁹", "a.svg", 200, 422) {
            svg("<g/>", size: "width=\"1000000000\" height=\"1000000000\"")
        },
        Row("a view of 10⁹ × 10⁹", "a.svg", 200, 422) {
            svg("<g/>", size: "viewBox=\"0 0 1000000000 1000000000\"")
        },
        Row("no size", "a.svg", 200, 422) { svg("<rect width=\"9\" height=\"9\"/>", size: "") },
        Row("a script", "a.svg", 200) {
            svg("<script>while(true);</script><rect width=\"9\" height=\"9\"/>")
        },
        Row("100,000 nodes", "a.svg", 200, 422) { svg(String(repeating: "<g/>", count: 100_000)) },
        Row("100,000 levels", "a.svg", 200, 422) {
            svg(
                String(repeating: "<g>", count: 100_000) + String(repeating: "</g>", count: 100_000)
            )
        },
        Row("a foreign object", "a.svg", 200, 422) {
            svg("<foreignObject><p>hello</p></foreignObject>")
        },
        Row("what uses itself", "a.svg", 200, 422) {
            svg("<g id=\"u\"><use xlink:href=\"#u\"/></g>")
        },
    ]

    @Test(arguments: drawings) func aDrawingThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row)
    }

    @Test func aDrawingAsksNobodyForItsPictures() async throws {
        let origin = try await OriginServer.start(
            files: ["/a.png": PNGFixture.solid(.red, width: 9, height: 9)])
        let folder = try TemporaryDirectory()
        let inner = origin.url("/a.png").absoluteString
        try folder.write(
            Self.svg(
                "<image href=\"\(inner)\" width=\"9\" height=\"9\"/>"
                    + "<image xlink:href=\"\(inner)\" width=\"9\" height=\"9\"/>"
                    + "<style>@import url(\(inner)); rect { fill: url(\(inner)) }</style>"
                    + "<rect width=\"9\" height=\"9\"/>"), to: "a.svg")
        let live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        let answer = try await live.ask("/_/w:20/plain/local:///a.svg@png")
        #expect([200, 422].contains(answer.status))
        #expect(origin.connectionCount == 0)
    }

    /// Files that were found to be hard, where they are.
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
