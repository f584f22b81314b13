import Foundation
import Testing

@testable import Vips

@Suite struct VipsOperationTests {
    @Test func setsArgumentsOfEveryKind() throws {
        let image = try VipsImage.create("black", ["width": 5, "height": 3, "bands": .double(2)])
        #expect(image.shape == [5, 3, 2])
        let joined = try VipsImage.create(
            "arrayjoin",
            [
                "in": .images([image, image]), "across": 1, "shim": 1,
                "background": [7, 9], "halign": "centre",
            ])
        #expect(joined.shape == [5, 7, 2])
        #expect(try Pixels(joined)[2, 3] == [7, 9])
        let turned = try image.apply("affine", ["matrix": [0, 1, 1, 0], "interpolate": "nearest"])
        #expect(turned.shape == [3, 5, 2])
    }

    @Test func readsSeveralOutputsByName() throws {
        let image = try Pixels(6, 4, 1) { x, y, _ in x == 4 && y == 2 ? 250 : 10 }.image()
        let outputs = try image.run("max")
        #expect(try outputs.double("out") == 250 && outputs.int("x") == 4 && outputs.int("y") == 2)
        #expect(try outputs.doubles("out_array") == [250] && outputs.doubles("out-array") == [250])
        #expect(outputs.value("no_such_output") == nil)
        #expect(throws: VipsError.self) { try outputs.image("out") }
        let stats = try Pixels(image.run("stats").image("out").cast(to: .uchar))
        #expect(stats[1, 0] == [250])
    }

    @Test func findsTheImageArgumentByIntrospection() throws {
        let left = try Pixels(2, 2, 1) { _, _, _ in 30 }.image()
        let right = try Pixels(2, 2, 1) { _, _, _ in 12 }.image()
        let difference = try left.apply("subtract", ["right": .image(right)]).cast(to: .uchar)
        #expect(try Pixels(difference).samples == [18, 18, 18, 18])
    }

    @Test func drawsIntoACopyAndReturnsIt() throws {
        let before = Pixels.numbered(8, 8, 1)
        let image = try before.image()
        let after = try Pixels(
            image.apply(
                "draw_rect",
                ["ink": [99], "left": 2, "top": 3, "width": 2, "height": 1, "fill": true]))
        #expect([2, 3, 4].map { after[$0, 3] } == [[99], [99], before[4, 3]])
        #expect(try Pixels(image) == before)
    }

    @Test func refusesUnknownNamesAndWrongValues() throws {
        let image = try Pixels.numbered(4, 4, 1).image()
        let cases: [(String, [String: VipsValue], String)] = [
            ("no_such_operation", [:], "no_such_operation"),
            ("resize", ["scale": 0.5, "colour": 1], "colour"),
            ("resize", ["scale": "half"], "scale"),
            ("resize", ["scale": -1], "out of range"),
            ("resize", ["scale": 0.5, "kernel": "sharpest"], "sharpest"),
            ("affine", ["matrix": [1, 0, 0, 1], "interpolate": "guess"], "guess"),
            ("extract_area", ["left": 3, "top": 0, "width": 2, "height": 1], "bad extract area"),
            ("extract_area", ["left": .double(0.5)], "0.5"),
            ("black", ["width": 1, "height": 1], "no image"),
            ("embed", ["x": 1], "not set"),
        ]
        for (operation, arguments, words) in cases {
            let error = #expect(throws: VipsError.self) { try image.apply(operation, arguments) }
            #expect(error?.operation == operation)
            #expect(error?.message.contains(words) == true, "\(error?.description ?? "")")
        }
    }

    @Test func describesErrorsWithTheOperationOnce() {
        let crop = VipsError(operation: "extract_area", message: "extract_area: bad extract area")
        #expect(crop.description == "extract_area: bad extract area")
        let load = VipsError(operation: "webpload", message: "webp: unable to parse image")
        #expect(load.description == "webpload: webp: unable to parse image")
    }

    @Test func refusesLoadersThatAreNotAdmitted() throws {
        let portable = Data("P5 2 2 255 abcd".utf8)
        func expectBlocked(_ loader: String, _ load: () throws -> VipsImage) {
            let error = #expect(throws: VipsError.self) { try load() }
            #expect(error?.operation == loader && error?.message.contains("blocked") == true)
        }
        try withTemporaryFile("pgm") { path in
            try portable.write(to: URL(fileURLWithPath: path))
            for loader in ["ppmload", "magickload", "openslideload", "vipsload", "thumbnail"] {
                expectBlocked(loader) { try VipsImage.load(loader, path: path) }
            }
        }
        for loader in ["magickload_buffer", "radload_buffer", "jp2kload_buffer"] {
            expectBlocked(loader) { try VipsImage.load(loader, bytes: portable) }
        }
    }
}

@Suite struct VipsTests {
    @Test func reportsTheRunningVersion() {
        #expect(Vips.version.hasPrefix("8."))
    }

    @Test func supportsWhatExistsAndIsAdmitted() {
        #expect(Vips.supports(operation: "jpegload_buffer") && Vips.supports(operation: "resize"))
        #expect(!Vips.supports(operation: "no_such_operation"))
        #expect(!Vips.supports(operation: "magickload_buffer"))
        #expect(!Vips.supports(operation: "thumbnail_buffer"))
        #expect(Vips.supports(operation: "thumbnail_image"))
    }
}
