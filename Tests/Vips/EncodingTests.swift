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
