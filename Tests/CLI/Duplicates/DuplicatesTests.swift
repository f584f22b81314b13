import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonCLI

@Suite struct PictureGroupsTests {
    private func picture(
        _ path: String, _ width: Int = 400, _ height: Int = 300, hash: UInt64 = 0,
        opacity: UInt64? = nil, average: Color = .gray
    ) -> FoundPicture {
        FoundPicture(
            path: FilePath(bytes: Array(path.utf8))!, size: PixelSize(width: width, height: height),
            format: .JPEG, byteCount: 1000, hash: PerceptualHash(bits: hash),
            opacityHash: opacity.map { PerceptualHash(bits: $0) }, average: average)
    }

    private func paths(_ pictures: [FoundPicture], distance: Int = 8) -> [[String]] {
        PictureGroup.groups(of: pictures, distance: distance).map {
            $0.pictures.map(\.path.description)
        }
    }

    @Test func theLargestComesFirstAndGroupsAreInOrder() {
        let pictures = [
            picture("z-small", 40, 30, hash: 0xff00), picture("z-large", 800, 600, hash: 0xff00),
            picture("b", hash: 0xff_0000_0000), picture("a", hash: 0xff_0000_0001),
            picture("alone", hash: .max),
        ]
        #expect(paths(pictures) == [["a", "b"], ["z-large", "z-small"]])
    }

    @Test func theDistanceIsTheLimit() {
        let pictures = [picture("a", 800, 600), picture("b", hash: 0xff)]
        #expect(paths(pictures, distance: 8) == [["a", "b"]])
        #expect(paths(pictures, distance: 7).isEmpty)
    }

    @Test func likenessIsNotHandedOn() {
        // Each is near the next, but the last is far from the first.
        let pictures = [
            picture("a", 800, 600), picture("b", 400, 300, hash: 0b1111),
            picture("c", 200, 150, hash: 0b1111_1111),
        ]
        #expect(paths(pictures, distance: 4) == [["a", "b"]])
    }

    @Test func proportionsMustBeTheSameButForRounding() {
        #expect(paths([picture("a", 640, 427), picture("b", 100, 67)]).count == 1)
        #expect(paths([picture("a", 400, 300), picture("b", 300, 400)]).isEmpty)
        #expect(paths([picture("a", 400, 300), picture("b", 400, 400)]).isEmpty)
    }

    @Test func plainPicturesOfOtherColorsAreOthers() {
        #expect(paths([picture("a", average: .red), picture("b", average: .blue)]).isEmpty)
    }

    @Test func shapesInOpacityAreComparedWhereBothHaveThem() {
        let (square, circle) = (picture("a", opacity: 0xffff), picture("b", opacity: 0))
        #expect(paths([square, circle]).isEmpty)
        #expect(paths([square, picture("c", opacity: 0xfffe)]) == [["a", "c"]])
        #expect(paths([square, picture("d")]) == [["a", "d"]])
    }
}

@Suite(.timeLimit(.minutes(20))) struct DuplicatesProgramTests {
    private let program: Program

    init() throws { program = try Program() }

    /// Blocks of random greys, softly coloured; another seed is another picture.
    private func photo(seed: UInt64) throws -> Image {
        var random = SeededGenerator(state: seed)
        let blocks = (0..<96).map { _ in UInt8.random(in: 0...255, using: &random) }
        let grid = PixelGrid(width: 180, height: 120) { x, y in
            let grey = blocks[y / 15 * 12 + x / 15]
            return Pixel(grey, grey / 4 * 3, 255 - grey / 2)
        }
        return try Image.decoding(PNGFixture.data(grid, as: .rgb8))
    }

    private func write(
        _ image: Image, _ format: ImageFormat, quality: Double = 0.9, to path: String
    ) throws {
        let options = ImageEncodingOptions(quality: quality)
        try program.folder.write(image.kf.data(format: format, options: options), to: path)
    }

    private func writeLibrary() throws {
        let (first, second) = (try photo(seed: 3), try photo(seed: 5))
        try write(first, .PNG, to: "pictures/one.png")
        try write(
            first.kf.resize(to: CGSize(width: 90, height: 60)), .JPEG, quality: 0.6,
            to: "pictures/deep/er/small.jpg")
        try write(first, .WebP, quality: 0.7, to: "pictures/one.webp")
        try write(second, .PNG, to: "pictures/other.png")
        try program.folder.write(Data("no picture".utf8), to: "pictures/notes.txt")
    }

    @Test func printsCopiesInOtherSizesAndFormatsInGroups() async throws {
        try writeLibrary()
        let outcome = try await program.run("duplicates", "pictures", code: 0)
        #expect(
            outcome.lines == [
                "pictures/one.png  180×120 PNG", "pictures/one.webp  180×120 WebP",
                "pictures/deep/er/small.jpg  90×60 JPEG",
            ])
        #expect(outcome.error.contains("2 duplicates in 1 group, of 4 pictures"))
    }

    @Test func printsTheSameAsJSON() async throws {
        try writeLibrary()
        let rows = try await program.run("duplicates", "--json", "pictures", "./pictures").rows
        try #require(rows.count == 2)
        let pictures = try #require(rows[0]["pictures"] as? [[String: Any]])
        #expect(
            pictures.map { $0["path"] as? String } == [
                "pictures/one.png", "pictures/one.webp", "pictures/deep/er/small.jpg",
            ])
        #expect(pictures.map { $0["width"] as? Int } == [180, 180, 90])
        #expect(pictures[0]["distance"] as? Int == 0)
        #expect((pictures[0]["pHash"] as? String)?.count == 16)
        try rows[1].expect(["groups": 1, "duplicates": 2, "pictures": 4, "failed": 0])
    }

    @Test func drawsASheet() async throws {
        try writeLibrary()
        let outcome = try await program.run(
            "duplicates", "pictures", "-q", "--sheet", "sheet.png", code: 0)
        #expect(outcome.error.isEmpty)
        let sheet = try Image.decoding(Data(contentsOf: program.folder.file("sheet.png")))
        #expect(sheet.pixelSize.width > 600)
    }

    /// A white shape on transparency, of the given size.
    private func icon(_ side: Int, isInside: (_ x: Double, _ y: Double) -> Bool) throws -> Image {
        func place(_ number: Int) -> Double { Double(number) / Double(side) - 0.5 }
        let grid = PixelGrid(width: side, height: side) { x, y in
            Pixel(255, 255, 255, isInside(place(x), place(y)) ? 255 : 0)
        }
        return try Image.decoding(PNGFixture.data(grid))
    }

    @Test func whiteIconsOfOtherShapesAreOtherPictures() async throws {
        let disc = { (x: Double, y: Double) in x * x + y * y < 0.1 }
        try write(try icon(96, isInside: disc), .PNG, to: "icons/disc.png")
        try write(try icon(48, isInside: disc), .WebP, to: "icons/small-disc.webp")
        try write(try icon(96) { x, y in abs(x) < 0.1 || y < -0.3 }, .PNG, to: "icons/t.png")
        try write(try icon(96) { x, y in x < -0.3 || abs(y) < 0.06 }, .PNG, to: "icons/e.png")
        let outcome = try await program.run("duplicates", "icons")
        #expect(
            outcome.lines == ["icons/disc.png  96×96 PNG", "icons/small-disc.webp  48×48 WebP"])
    }

    @Test func everyPictureOfManyIsCounted() async throws {
        for number in 0..<50 {
            try write(try photo(seed: UInt64(number) + 1), .PNG, to: "many/\(number).png")
        }
        let rows = try await program.run("duplicates", "--json", "many").rows
        #expect(rows.last?["pictures"] as? Int == 50 && rows.last?["failed"] as? Int == 0)
    }

    @Test func whatCannotBeReadIsCountedAndNamed() async throws {
        try writeLibrary()
        let png = try Data(contentsOf: program.folder.file("pictures/other.png"))
        try program.folder.write(png.prefix(png.count / 2), to: "pictures/broken.png")
        // It is not waited for.
        try #require(mkfifo(program.folder.file("fifo").path, 0o600) == 0)
        let outcome = try await program.run("duplicates", "nowhere", "fifo", "pictures", code: 1)
        #expect(outcome.lines.count == 3)
        for fault in [
            "nowhere cannot be read: No such file", "fifo is a FIFO, not a file.",
            "pictures/broken.png",
        ] {
            #expect(outcome.error.contains(fault))
        }
        let rows = try await program.run("duplicates", "--json", "nowhere", "fifo", "pictures").rows
        #expect(rows.last?["failed"] as? Int == 3)
    }

    @Test func namesThatAreNoTextAndLinksThatLeadNowhereEndNothing() async throws {
        try writeLibrary()
        let pictures = program.folder.file("pictures")
        let png = try Data(contentsOf: pictures.appendingPathComponent("one.png"))
        let latin = try #require(
            FilePath(bytes: Array(pictures.path.utf8) + Array("/caf".utf8) + [0xE9]))
        let descriptor = latin.withCString { open($0, O_WRONLY | O_CREAT, 0o600) }
        try #require(descriptor >= 0)
        try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: png)
        try FileManager.default.createSymbolicLink(
            atPath: pictures.appendingPathComponent("gone.png").path,
            withDestinationPath: "nowhere")
        let outcome = try await program.run("duplicates", "pictures", code: 1)
        #expect(outcome.lines.count == 4)
        #expect(outcome.output.contains("pictures/caf\\xE9  180×120 PNG"))
        #expect(outcome.error.contains("pictures/gone.png cannot be read: No such file"))
    }

    @Test func anEmptyFolderHasNone() async throws {
        try FileManager.default.createDirectory(
            at: program.folder.file("empty"), withIntermediateDirectories: true)
        let outcome = try await program.run("duplicates", "empty", code: 0)
        #expect(outcome.output.isEmpty && outcome.error.contains("no duplicates among 0 pictures"))
    }
}
