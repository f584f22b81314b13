import Foundation
import Testing
import Vips

@Suite struct OwnershipTests {
    @Test func freesMemoryAfterTheLastDerivedImage() throws {
        let freed = Flag()
        let source = Pixels.numbered(32, 16, 3)
        var derived: VipsImage? = try source.image { freed.set() }.flippedHorizontally()
            .cropped(left: 1, top: 2, width: 3, height: 4)
        #expect(!freed.isSet)
        #expect(try Pixels(#require(derived))[0, 0] == source[30, 2])
        derived = nil
        #expect(freed.isSet)
    }

    /// Of too few bytes, and of such as cannot be opened.
    @Test func freesMemoryWhenTheImageIsRefused() {
        let (few, unreadable) = (Flag(), Flag())
        #expect(throws: VipsError.self) {
            let memory = Memory([1, 2, 3]) { few.set() }
            return try VipsImage.memory(
                memory.pointer, count: memory.count, owner: memory, width: 2, height: 2,
                bands: 1, format: .uchar, interpretation: .bw)
        }
        #expect(throws: VipsError.self) {
            let memory = Memory(Array(repeating: 7, count: 4096)) { unreadable.set() }
            return try VipsImage.load("jpegload_buffer", bytes: memory.data)
        }
        #expect(few.isSet && unreadable.isSet)
        #expect(throws: VipsError.self) { try VipsImage.load("pngload_buffer", bytes: Data()) }
    }

    @Test(arguments: ["png", "jpeg", "webp", "gif", "tiff", "heif"])
    func keepsEncodedBytesUntilTheLastDerivedImage(format: String) throws {
        let encoded = try Pixels.numbered(190, 170, 3).image().encoded("\(format)save_buffer")
        let expected = try Pixels(VipsImage.load("\(format)load_buffer", bytes: encoded))
        try #require(encoded.count > 2000)
        let freed = Flag()
        var derived: VipsImage?
        do {
            let memory = Memory(encoded) { freed.set() }
            let image = try VipsImage.load("\(format)load_buffer", bytes: memory.data)
            derived = try image.flippedVertically().flippedVertically()
        }
        #expect(!freed.isSet)
        #expect(try Pixels(#require(derived)) == expected)
        derived = nil
        #expect(freed.isSet)
    }

    @Test func keepsEncodedBytesWhenTheCallersDataChanges() throws {
        for size in [1, 8, 60] {
            let image = try Pixels.numbered(size, size, 1).image()
            var data = try image.encoded("pngsave_buffer")
            let loaded = try VipsImage.load("pngload_buffer", bytes: data)
            for index in data.indices { data[index] = 0 }
            #expect(try Pixels(loaded) == Pixels(image))
        }
    }

    @Test func keepsAPipelineAliveThroughItsResult() throws {
        func pipeline() throws -> VipsImage {
            let xyz = try VipsImage.create("xyz", ["width": 8, "height": 8])
            let (column, row) = (
                try xyz.apply("extract_band", ["band": 0]),
                try xyz.apply("extract_band", ["band": 1])
            )
            return try column.apply("add", ["right": .image(row)]).cast(to: .uchar)
        }
        #expect(try Pixels(pipeline()).samples == (0..<64).map { UInt8($0 % 8 + $0 / 8) })
    }

    @Test func leavesCopiesInMemoryIndependentOfTheirSource() throws {
        let freed = Flag()
        let source = Pixels.numbered(16, 16, 3)
        let copy = try source.image { freed.set() }.flippedHorizontally().copiedToMemory()
        #expect(freed.isSet)
        #expect(try Pixels(copy)[0, 5] == source[15, 5])
    }
}
