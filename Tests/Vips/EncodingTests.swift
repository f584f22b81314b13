import Foundation
import Testing
import Vips

@Suite struct EncodingTests {
    private let source = Pixels.gradient(64, 48)

    @Test(
        arguments: [
            ("png", [:]), ("tiff", [:]), ("webp", ["lossless": true]),
            ("jpeg", ["Q": 95]), ("heif", ["compression": "av1", "effort": 0, "Q": 90]),
        ] as [(String, [String: VipsValue])])
    func roundTripsThroughMemory(format: String, options: [String: VipsValue]) throws {
        let encoded = try source.image().encoded("\(format)save_buffer", options)
        let decoded = try Pixels(VipsImage.load("\(format)load_buffer", bytes: encoded))
        let isLossy = format == "jpeg" || format == "heif"
        #expect(decoded.width == 64 && decoded.height == 48 && decoded.bands == 3)
        for (left, right) in zip(decoded.samples, source.samples) {
            #expect(abs(Int(left) - Int(right)) <= (isLossy ? 12 : 0))
        }
    }

    @Test(arguments: ["png", "jpeg", "webp", "gif", "tiff", "heif"])
    func roundTripsThroughFiles(format: String) throws {
        try withTemporaryFile(format) { path in
            try source.image().write("\(format)save", path: path)
            let loaded = try VipsImage.load("\(format)load", path: path)
            #expect(loaded.shape.prefix(2) == [64, 48])
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let fromMemory = try VipsImage.load("\(format)load_buffer", bytes: bytes)
            #expect(try Pixels(loaded) == Pixels(fromMemory))
        }
    }

    @Test func obeysSaverOptions() throws {
        let image = try source.image()
        let small = try image.encoded("jpegsave_buffer", ["Q": 10])
        let large = try image.encoded("jpegsave_buffer", ["Q": 95])
        #expect(small.count < large.count)
        #expect(throws: VipsError.self) { try image.encoded("jpegsave_buffer", ["Q": 101]) }
        #expect(throws: VipsError.self) { try image.encoded("jpegsave_buffer", ["quality": 50]) }
    }

    @Test func readsTheSameFileAgainAfterItChanged() throws {
        try withTemporaryFile("png") { path in
            for value: UInt8 in [10, 200] {
                try Pixels(4, 4, 1) { _, _, _ in value }.image().write("pngsave", path: path)
                #expect(try Pixels(VipsImage.load("pngload", path: path))[0, 0] == [value])
            }
        }
    }

    @Test func drawsScalableImages() throws {
        let svg = Data(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">
            <rect width="10" height="10" fill="#ff0000"/></svg>
            """.utf8)
        let image = try VipsImage.load("svgload_buffer", bytes: svg, ["scale": 2])
        #expect(image.shape == [40, 20, 4])
        let pixels = try Pixels(image)
        #expect(pixels[5, 5] == [255, 0, 0, 255] && pixels[30, 5][3] == 0)
    }

    @Test(arguments: ["webpsave_buffer", "jpegsave_buffer", "pngsave_buffer"])
    func stopsWhenTheLoadedImageIsCancelled(saver: String) throws {
        let encoded = try Pixels.gradient(1200, 900).image().encoded("jpegsave_buffer")
        let loaded = try VipsImage.load("jpegload_buffer", bytes: encoded)
        let pipeline = try loaded.resized(to: 600, height: 450)
        loaded.cancel()
        #expect(throws: VipsError.self) { try pipeline.encoded(saver) }
    }

    @Test(arguments: ["webp", "heif", "jpeg", "png"])
    func releasesThePipelineWhenItFailsWhileSaved(format: String) throws {
        let encoded = try Pixels.numbered(300, 300, 3).image().encoded("jpegsave_buffer")
        let freed = Flag()
        do {
            let memory = Memory(encoded.prefix(encoded.count / 2)) { freed.set() }
            let loaded = try VipsImage.load(
                "jpegload_buffer", bytes: memory.data, ["fail_on": "truncated"])
            #expect(throws: VipsError.self) { try loaded.encoded("\(format)save_buffer") }
        }
        #expect(freed.isSet)
    }

    @Test func reportsATruncatedFileWhenAskedTo() throws {
        let encoded = try Pixels.numbered(300, 300, 3).image().encoded("jpegsave_buffer")
        let cut = encoded.prefix(encoded.count / 2)
        let strict = try VipsImage.load("jpegload_buffer", bytes: cut, ["fail_on": "truncated"])
        let error = #expect(throws: VipsError.self) { try strict.rendered() }
        #expect(error?.operation == "render" && error?.message.contains("Jpeg") == true)
        let lenient = try VipsImage.load("jpegload_buffer", bytes: cut)
        #expect(try lenient.rendered().count == 300 * 300 * 3)
    }
}

@Suite struct MetadataTests {
    @Test func describesTheHeader() throws {
        let image = try Pixels.numbered(9, 4, 4).image()
        #expect(
            image.shape == [9, 4, 4] && image.format == .uchar && image.interpretation == .srgb)
        #expect(image.hasAlpha && !image.hasProfile)
        #expect(image.pageHeight == 4 && image.pageCount == 1 && image.int("width") == 9)
        #expect(image.fields.contains("interpretation"))
    }

    @Test func setsAndReadsFieldsOfEveryKind() throws {
        let image = try Pixels.numbered(3, 3, 1).image()
        let blob = Data((0...255).map { UInt8($0) })
        let changed = try image.settingMetadata([
            ("n", 7), ("x", 0.25), ("text", "héron"), ("delay", .ints([40, 50])),
            ("background", [1.5, 2]), ("bytes", .blob(blob)), ("flag", true),
        ])
        #expect(changed.int("n") == 7 && changed.double("x") == 0.25 && changed.double("n") == 7)
        #expect(changed.string("text") == "héron" && changed.ints("delay") == [40, 50])
        guard case .doubles([1.5, 2])? = changed.value("background") else {
            Issue.record("the array of numbers is lost")
            return
        }
        #expect(changed.blob("bytes") == blob && changed.int("flag") == 1)
        #expect(changed.int("text") == nil && changed.string("n") == nil)
        #expect(changed.blob("missing") == nil)
        #expect(!image.hasField("n"))
        #expect(try Pixels(changed) == Pixels(image))
    }

    @Test func removesFieldsByNameAndByPrefix() throws {
        let image = try Pixels.numbered(3, 3, 1).image().settingMetadata([
            ("exif-a", 1), ("exif-b", 2), ("orientation", 3), ("xmp", 4),
        ])
        let stripped = try image.settingMetadata([("xmp", 5)], removing: ["exif-*", "orientation"])
        #expect(!stripped.fields.contains { $0.hasPrefix("exif-") || $0 == "orientation" })
        #expect(stripped.int("xmp") == 5)
        #expect(image.int("exif-b") == 2)
    }

    @Test func refusesValuesThatCannotBeFields() throws {
        let image = try Pixels.numbered(3, 3, 1).image()
        for value: VipsValue in [.int(1 << 40), .ints([1 << 40]), .image(image)] {
            #expect(throws: VipsError.self) { try image.settingMetadata([("field", value)]) }
        }
    }

    @Test func tellsThePagesOfAnAnimation() throws {
        let frames = try Pixels.numbered(20, 30, 3).image().settingMetadata([
            ("page-height", 10), ("delay", .ints([100, 200, 300])), ("loop", 0),
        ])
        let encoded = try frames.encoded("gifsave_buffer")
        let all = try VipsImage.load("gifload_buffer", bytes: encoded, ["n": -1])
        #expect(all.shape.prefix(2) == [20, 30] && all.pageHeight == 10 && all.pageCount == 3)
        #expect(all.ints("delay") == [100, 200, 300])
        let first = try VipsImage.load("gifload_buffer", bytes: encoded)
        #expect(first.height == 10 && first.pageCount == 3)
    }
}
