import Foundation
import Testing
import Vips

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
