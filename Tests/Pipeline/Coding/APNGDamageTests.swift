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
    private static func changed(
        _ change: (inout [PNGFixture.Chunk]) -> Void
    ) -> Data {
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

    struct Damage: CustomTestStringConvertible, Sendable {
        let name: String
        let data: Data
        let reason: String

        init(_ name: String, _ reason: String, _ data: Data) {
            self.name = name
            self.data = data
            self.reason = reason
        }

        var testDescription: String { name }
    }

    static let damages: [Damage] = [
        Damage(
            "a description that is missing", "its frames are in disorder",
            changed { $0.remove(at: place("fcTL", 1)) }),
        Damage(
            "a description of another number", "its frames are in disorder", described(1, 3, 7)),
        Damage(
            "two frames that are exchanged", "its frames are in disorder",
            changed {
                $0.swapAt(place("fcTL", 1), place("fcTL", 2))
                $0.swapAt(place("fdAT", 0), place("fdAT", 1))
            }),
        Damage(
            "pixels before any description", "pixels of a frame are in the wrong place",
            changed { $0.insert($0.remove(at: place("fdAT")), at: place("IDAT")) }),
        Damage(
            "pixels of a frame without a description",
            "pixels of a frame come before its description",
            changed {
                $0.remove(at: place("fcTL", 1))
                $0[place("fdAT", 0) - 1].data[3] = 1
            }),
        Damage(
            "a frame without pixels", "a frame has no pixels",
            changed {
                $0.remove(at: place("fdAT", 1))
            }),
        Damage(
            "a frame that is not there", "it has 2 frames of 3",
            changed { $0.removeSubrange(place("fcTL", 2)...place("fdAT", 1)) }),
        Damage(
            "a frame too many", "it has more than its 2 frames",
            changed { $0[place("acTL")] = APNGFixture.control(frames: 2, loops: 0) }),
        Damage(
            "a frame beside the canvas", "frame 1 lies outside of the canvas", described(1, 15, 1)),
        Damage(
            "a frame below the canvas", "frame 1 lies outside of the canvas", described(1, 16, 255)),
        Damage("a frame of no width", "frame 1 lies outside of the canvas", described(1, 7, 0)),
        Damage(
            "a frame wider than the canvas", "frame 2 lies outside of the canvas",
            described(2, 4, 127)),
        Damage(
            "a first frame that is smaller", "the first frame does not cover the canvas",
            described(0, 7, 5)),
        Damage("an unknown disposal", "frame 1 is drawn in an unknown way", described(1, 24, 3)),
        Damage("an unknown blend", "frame 1 is drawn in an unknown way", described(1, 25, 2)),
        Damage(
            "a description that is too short", "the description of a frame is damaged",
            changed { $0[place("fcTL", 1)].data.removeLast() }),
        Damage(
            "pixels in several places", "its pixels are in several places",
            changed {
                $0.append($0[place("IDAT")]); $0.swapAt($0.count - 1, $0.count - 2)
            }),
        Damage(
            "no end", "it is cut short", changed { $0.removeLast() }),
    ]

    @Test(arguments: damages)
    func whatIsWrongIsTold(_ damage: Damage) {
        #expect(throws: ImageCodingError.corrupt(.PNG, reason: damage.reason)) {
            try Image.decoding(damage.data)
        }
        // Its size is known all the same.
        let information = try? ImageInformation(of: damage.data)
        #expect(information?.size == PixelSize(width: 6, height: 4))
        #expect(information?.isComplete == false)
    }

    @Test func aFileIsCutShortAtEveryByte() throws {
        let whole = APNGFixture(Self.frames).data
        // Behind its first picture there is nothing that would say that more was to come.
        for length in stride(from: 60, to: whole.count, by: 1) {
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
        #expect(try image.bitmap(frame: 1).samples(0, 0).prefix(3) == [0, 255, 0])
        #expect(
            throws: ImageCodingError.corrupt(.PNG, reason: "the checksum of frame 2 is wrong")
        ) { try image.bitmap(frame: 2) }
    }

    @Test func tooFewPixelsMeanDamage() throws {
        // The second frame has the pixels of one that is a row smaller.
        let small = APNGFixture([
            Self.frames[0], .init(.solid(.red, width: 6, height: 3)),
        ]).chunks
        let data = Self.changed { chunks in
            chunks[Self.place("fdAT")] = small.first { $0.type == "fdAT" } ?? chunks[0]
        }
        let image = try Image.decoding(data)
        #expect(throws: ImageCodingError.self) { try image.bitmap(frame: 1) }
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
    }

    /// What does not say that it is an animation is a picture like any other.
    @Test(arguments: [
        APNGFixture.control(frames: 0, loops: 0), APNGFixture.control(frames: 1 << 31, loops: 0),
        PNGFixture.Chunk(type: "acTL", data: Data([0, 0, 0, 3])),
    ])
    func aClaimThatMeansNothingIsPassedOver(_ claim: PNGFixture.Chunk) throws {
        let image = try Image.decoding(Self.changed { $0[Self.place("acTL")] = claim })
        #expect(image.animation == nil)
        #expect(try image.bitmap().samples(2, 2).prefix(3) == [255, 0, 0])
    }

    @Test func aClaimBehindThePixelsIsPassedOver() throws {
        let data = Self.changed { chunks in
            let claim = chunks.remove(at: Self.place("acTL"))
            chunks.insert(claim, at: chunks.count - 1)
        }
        #expect(try Image.decoding(data).animation == nil)
    }

    @Test func manyFramesAreRefusedBeforeTheyAreLookedAt() throws {
        let data = Self.changed {
            $0[Self.place("acTL")] = APNGFixture.control(frames: 5_000_000, loops: 0)
        }
        #expect(throws: ImageCodingError.tooManyFrames(5_000_000, limit: 65_536)) {
            try Image.decoding(data)
        }
    }

    /// Frames of one pixel cost what they cover, not what the canvas does.
    @Test func manySmallFramesAreQuicklyPassed() throws {
        let pixel = PixelGrid.solid(.red, width: 1, height: 1)
        var frames = [APNGFixture.Frame(.solid(.black, width: 400, height: 300))]
        for index in 0..<3000 {
            frames.append(
                .init(
                    pixel, left: index % 400, top: index / 400,
                    disposal: APNGFixture.Disposal.allCases[index % 3]))
        }
        var fixture = APNGFixture(frames)
        fixture.format = .rgb8
        let image = try Image.decoding(fixture.data)
        let last = try image.bitmap(frame: 3000)
        #expect(last.samples(2999 % 400, 2999 / 400).prefix(3) == [255, 0, 0])
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
        let whole = fixture.data
        var generator = SeededGenerator(state: 71)
        let limits = DecodingLimits(maximumPixelCount: 1_000_000)
        for _ in 0..<400 {
            var chunks = PNGFixture.chunks(of: whole)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<chunks.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    chunks.remove(at: index)
                case 1:
                    chunks.swapAt(index, Int.random(in: 0..<chunks.count, using: &generator))
                case 2:
                    chunks.insert(chunks[index], at: index)
                default:
                    guard !chunks[index].data.isEmpty else { continue }
                    let place = Int.random(in: 0..<chunks[index].data.count, using: &generator)
                    chunks[index].data[place] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            do {
                let image = try Image.decoding(
                    PNGFixture.file(chunks), options: ImageCreatingOptions(limits: limits))
                #expect(try image.allBitmaps().allSatisfy { $0.size == image.pixelSize })
            } catch is ImageCodingError {
                // As it should be.
            }
        }
    }
}
