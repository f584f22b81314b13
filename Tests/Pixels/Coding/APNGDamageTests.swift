import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// Animated PNG files that are not as they should be.
struct APNGDamageTests {
    private static let frames = [Pixel.red, .green, .blue].map {
        APNGFixture.Frame(.solid($0, width: 6, height: 4))
    }

    private static var chunks: [PNGFixture.Chunk] { APNGFixture(frames).chunks }

    /// A file whose chunks were changed, each with a right checksum.
    private static func changed(_ change: (inout [PNGFixture.Chunk]) -> Void) -> Data {
        var chunks = chunks
        change(&chunks)
        return PNGFixture.file(chunks)
    }

    private static func place(_ name: String, _ index: Int = 0) -> Int {
        chunks.indices.filter { chunks[$0].type == name }[index]
    }

    private static func described(_ index: Int, _ byte: Int, _ value: UInt8) -> Data {
        changed { $0[place("fcTL", index)].data[byte] = value }
    }

    private static func claiming(frames: UInt32) -> Data {
        changed { $0[place("acTL")] = APNGFixture.control(frames: frames, loops: 0) }
    }

    /// What is wrong, what is told, and the file.
    static let damages: [(String, String, Data)] = [
        (
            "a description that is missing", "its frames are in disorder",
            changed { $0.remove(at: place("fcTL", 1)) }
        ),
        ("a description of another number", "its frames are in disorder", described(1, 3, 7)),
        (
            "two frames that are exchanged", "its frames are in disorder",
            changed {
                $0.swapAt(place("fcTL", 1), place("fcTL", 2))
                $0.swapAt(place("fdAT", 0), place("fdAT", 1))
            }
        ),
        (
            "pixels before any description", "pixels of a frame are in the wrong place",
            changed { $0.insert($0.remove(at: place("fdAT")), at: place("IDAT")) }
        ),
        (
            "pixels without a description", "pixels of a frame come before its description",
            changed {
                $0.remove(at: place("fcTL", 1))
                $0[place("fdAT", 0) - 1].data[3] = 1
            }
        ),
        (
            "a frame without pixels", "a frame has no pixels",
            changed { $0.remove(at: place("fdAT", 1)) }
        ),
        (
            "a frame that is not there", "it has 2 frames of 3",
            changed { $0.removeSubrange(place("fcTL", 2)...place("fdAT", 1)) }
        ),
        ("a frame too many", "it has more than its 2 frames", claiming(frames: 2)),
        ("a frame beside the canvas", "frame 1 lies outside of the canvas", described(1, 15, 1)),
        ("a frame below the canvas", "frame 1 lies outside of the canvas", described(1, 16, 255)),
        ("a frame of no width", "frame 1 lies outside of the canvas", described(1, 7, 0)),
        ("a frame that is too wide", "frame 2 lies outside of the canvas", described(2, 4, 127)),
        ("a small first frame", "the first frame does not cover the canvas", described(0, 7, 5)),
        ("an unknown disposal", "frame 1 is drawn in an unknown way", described(1, 24, 3)),
        ("an unknown blend", "frame 1 is drawn in an unknown way", described(1, 25, 2)),
        (
            "a description that is too short", "the description of a frame is damaged",
            changed { $0[place("fcTL", 1)].data.removeLast() }
        ),
        (
            "pixels in several places", "its pixels are in several places",
            changed { $0.insert($0[place("IDAT")], at: $0.count - 1) }
        ),
        ("no end", "it is cut short", changed { $0.removeLast() }),
    ]

    @Test(arguments: damages)
    func whatIsWrongIsTold(_ name: String, _ reason: String, _ data: Data) {
        #expect(throws: ImageCodingError.corrupt(.PNG, reason: reason)) { try Image.decoding(data) }
        // Its size is known all the same.
        let information = try? ImageInformation(of: data)
        #expect(information?.size == PixelSize(6, 4) && information?.isComplete == false)
    }

    @Test func aFileIsCutShortAtEveryByte() throws {
        let whole = APNGFixture(Self.frames).data
        // Behind its first picture there is nothing that would say that more was to come.
        for length in 60..<whole.count {
            #expect(throws: ImageCodingError.self, "\(length)") {
                try Image.decoding(whole.prefix(length)).allBitmaps()
            }
        }
    }

    @Test func wrongChecksumsOfPixelsMeanDamage() throws {
        var data = APNGFixture(Self.frames).data
        let last = try #require(data.lastRange(of: Data("IEND".utf8)))
        data[last.lowerBound - 5] ^= 1
        let image = try Image.decoding(data)
        #expect(try image.bitmap(frame: 1).rgb(0, 0) == [0, 255, 0])
        let damage = ImageCodingError.corrupt(.PNG, reason: "the checksum of frame 2 is wrong")
        #expect(throws: damage) { try image.bitmap(frame: 2) }
    }

    /// The second frame has the pixels of one that is a row smaller.
    @Test func tooFewPixelsMeanDamage() throws {
        let small = APNGFixture([Self.frames[0], .init(.solid(.red, width: 6, height: 3))]).chunks
        let pixels = try #require(small.first { $0.type == "fdAT" })
        let image = try Image.decoding(Self.changed { $0[Self.place("fdAT")] = pixels })
        #expect(throws: ImageCodingError.self) { try image.bitmap(frame: 1) }
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
    }

    /// What does not say that it is an animation is a picture like any other.
    @Test(arguments: [
        claiming(frames: 0), claiming(frames: 1 << 31),
        changed { $0[place("acTL")].data = Data([0, 0, 0, 3]) },
        // Behind the pixels.
        changed { $0.insert($0.remove(at: place("acTL")), at: $0.count - 1) },
    ])
    func aClaimThatMeansNothingIsPassedOver(_ file: Data) throws {
        let image = try Image.decoding(file)
        #expect(image.animation == nil)
        #expect(try image.bitmap().rgb(2, 2) == [255, 0, 0])
    }

    @Test func manyFramesAreRefusedBeforeTheyAreLookedAt() throws {
        #expect(throws: ImageCodingError.tooManyFrames(5_000_000, limit: 65_536)) {
            try Image.decoding(Self.claiming(frames: 5_000_000))
        }
    }

    /// Frames of one pixel cost what they cover, not what the canvas does.
    @Test func manySmallFramesAreQuicklyPassed() throws {
        let pixel = PixelGrid.solid(.red, width: 1, height: 1)
        let small = (0..<3000).map {
            APNGFixture.Frame(
                pixel, left: $0 % 400, top: $0 / 400,
                disposal: APNGFixture.Disposal.allCases[$0 % 3])
        }
        var fixture = APNGFixture([.init(.solid(.black, width: 400, height: 300))] + small)
        fixture.format = .rgb8
        let image = try Image.decoding(fixture.data)
        #expect(try image.bitmap(frame: 3000).rgb(2999 % 400, 2999 / 400) == [255, 0, 0])
        // All frames together are more than is decoded at once.
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
    }

    @Test func anyDamageIsSurvived() throws {
        var fixture = APNGFixture(
            (0..<6).map { index in
                APNGFixture.Frame(
                    .gradient(width: index == 0 ? 12 : 5, height: index == 0 ? 9 : 4),
                    left: index, top: index, disposal: .allCases[index % 3],
                    isBlended: index % 2 == 0)
            })
        fixture.parts = 2
        let whole = PNGFixture.chunks(of: fixture.data)
        var generator = SeededGenerator(state: 71)
        for _ in 0..<400 {
            var chunks = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<chunks.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: chunks.remove(at: index)
                case 1: chunks.swapAt(index, Int.random(in: 0..<chunks.count, using: &generator))
                case 2: chunks.insert(chunks[index], at: index)
                default:
                    guard !chunks[index].data.isEmpty else { continue }
                    let place = Int.random(in: 0..<chunks[index].data.count, using: &generator)
                    chunks[index].data[place] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            try expectWholeOrError(PNGFixture.file(chunks))
        }
    }
}
