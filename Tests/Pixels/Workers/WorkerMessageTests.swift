import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonPixels

/// Messages between a program and its workers, of which the answers may come of a worker that a file has taken over.
struct WorkerMessageTests {
    private static let size = PixelSize(width: 640, height: 480)
    private static let id: UInt64 = 0x0102_0304_0506_0708
    private static let durations = [0.04, 0.5, 1e9]

    private static let headers: [ImageHeader] = {
        let still = ImageHeader(format: .TIFF, size: size, hasAlpha: false)
        var cropped = ImageHeader(format: .TIFF, size: size, hasAlpha: true, depth: .sixteen)
        cropped.storedSize = PixelSize(width: 641, height: 999)
        var moving = cropped
        moving.timing = AnimationTiming(durations: durations, loopCount: 7)
        return [still, cropped, moving]
    }()

    private static let answers: [WorkerAnswer] =
        headers.map { .opened($0, isHeldWhole: $0.hasAlpha, hasPixels: $0.timing == nil) }
        + [
            .ready(missing: 5), .pixels(size, channels: 3, depth: .sixteen),
            .text(byteCount: 1 << 20), .unknownFile,
            .failure(.unsupported(.TIFF, reason: "no way")),
            .failure(.corrupt(.TIFF, reason: "x: y")), .failure(.tooComplex(.TIFF, reason: "é")),
            .failure(.processing(reason: "")), .failure(.tooManyPixels(size, limit: 100)),
            .failure(.tooManyFrames(10, limit: 9)),
            .failure(.tooMuchMemory(needed: 1 << 40, limit: 1 << 29)),
            .failure(.tooSlow(limit: .seconds(30))),
        ]

    private static func read(
        _ bytes: [UInt8], id: UInt64 = id, durations: [Double] = durations
    ) -> WorkerAnswer? {
        WorkerAnswer(bytes, to: id, format: .TIFF) { $0 <= 3 ? Array(durations.prefix($0)) : nil }
    }

    @Test func requestsAreReadAsTheyWereWritten() throws {
        let sizes: [DecodedSize] = [
            .atLeast(nil), .atLeast(Self.size),
            .exactly(Reduction(size: Self.size, quality: .best)),
            .exactly(Reduction(size: Self.size, quality: .fast)),
        ]
        let tasks: [WorkerRequest.Task] =
            [
                .open(pixelsUpTo: 0), .open(pixelsUpTo: 1 << 21), .play(frame: 9), .tell,
                .area(PixelArea(left: 7, top: 0, size: Self.size), reducedBy: 4),
            ]
            + sizes.enumerated().map { .decode(frame: $0.offset, $0.element) }
        for format in ImageFormat.allCases {
            for (index, task) in tasks.enumerated() {
                let request = WorkerRequest(
                    id: Self.id, task: task, file: 77, byteCount: index % 2 == 0 ? nil : 1 << 33,
                    format: format, coding: .current, duration: 9_000_000_000, room: 1 << 34)
                let again = try #require(WorkerRequest(request.bytes))
                #expect(again.bytes == request.bytes)
                #expect("\(again)" == "\(request)")
                #expect(request.bytes.count <= WorkerRequest.mostBytes)
                // What is cut short is none, and what is changed does not end who reads it.
                for count in request.bytes.indices {
                    #expect(WorkerRequest(Array(request.bytes.prefix(count))) == nil)
                }
            }
        }
    }

    @Test(arguments: answers.indices) func answersAreReadAsTheyWereWritten(_ index: Int) throws {
        let answer = Self.answers[index]
        let bytes = answer.bytes(id: Self.id)
        #expect(bytes.count <= WorkerRequest.mostBytes)
        #expect("\(try #require(Self.read(bytes)))" == "\(answer)")
    }

    @Test(arguments: answers.indices) func anAnswerThatIsNotWholeIsNone(_ index: Int) {
        let bytes = Self.answers[index].bytes(id: Self.id)
        for count in bytes.indices { #expect(Self.read(Array(bytes.prefix(count))) == nil) }
        #expect(Self.read(bytes + [0]) == nil && Self.read(bytes, id: Self.id + 1) == nil)
    }

    @Test(arguments: answers.indices) func anAnswerWithAnotherByteIsNoneOrAnother(_ index: Int) {
        let bytes = Self.answers[index].bytes(id: Self.id)
        for place in bytes.indices {
            for value in UInt8.min...UInt8.max where value != bytes[place] {
                var changed = bytes
                changed[place] = value
                guard let answer = Self.read(changed) else { continue }
                // Not that to the same request with another number.
                #expect(place >= 8)
                Self.check(answer)
            }
        }
    }

    /// What may be relied on in an answer, whoever has written it.
    private static func check(_ answer: WorkerAnswer) {
        switch answer {
        case .opened(let header, _, let hasPixels):
            #expect(header.format == .TIFF && header.frameCount > 0)
            #expect(header.size.width > 0 && header.size.height > 0)
            #expect(header.storedSize.map { $0.width > 0 && $0.height > 0 } ?? true)
            #expect(header.timing.map { $0.durations.count == header.frameCount } ?? true)
            #expect(!hasPixels || header.timing == nil)
        case .pixels(let size, let channels, _):
            #expect(size.width > 0 && size.height > 0 && (channels == 3 || channels == 4))
        case .text(let count): #expect(count >= 0)
        case .failure(let error): #expect(!error.description.isEmpty)
        case .ready, .unknownFile: break
        }
    }

    @Test(arguments: [-1, 0, .nan, .infinity]) func framesAreShownForSomeTime(_ duration: Double) {
        let answer = WorkerAnswer.opened(Self.headers[2], isHeldWhole: false, hasPixels: false)
        let bytes = answer.bytes(id: Self.id)
        #expect(Self.read(bytes, durations: [0.1, duration, 0.1]) == nil)
        #expect(Self.read(bytes, durations: [0.1, 0.1]) == nil)
    }

    @Test func anAnimationDoesNotComeWithPixels() {
        let answer = WorkerAnswer.opened(Self.headers[2], isHeldWhole: false, hasPixels: true)
        #expect(Self.read(answer.bytes(id: Self.id)) == nil)
    }

    @Test func onlyStillPicturesWithinTheLimitMayBeDecodedAtOnce() {
        let count = Self.size.pixelCount
        #expect(Self.headers[0].mayBeDecodedAtOnce(upTo: count))
        #expect(!Self.headers[0].mayBeDecodedAtOnce(upTo: count - 1))
        // As much is decoded as is stored.
        #expect(!Self.headers[1].mayBeDecodedAtOnce(upTo: count))
        #expect(!Self.headers[2].mayBeDecodedAtOnce(upTo: .max))
    }

    /// Decoders tell of sizes that no picture can have.
    @Test func anErrorOfAnySizeCanBeTold() {
        for width in [0, -5, Int.max] {
            let size = PixelSize(width: width, height: 7)
            let answer = WorkerAnswer.failure(.tooManyPixels(size, limit: 1))
            #expect(Self.read(answer.bytes(id: Self.id)) != nil)
        }
    }

    @Test func reasonsAreCutNotRefused() throws {
        let reason = String(repeating: "ä", count: 100_000)
        let bytes = WorkerAnswer.failure(.corrupt(.TIFF, reason: reason)).bytes(id: Self.id)
        #expect(bytes.count <= WorkerRequest.mostBytes)
        let answer = Self.read(bytes)
        guard case .failure(.corrupt(.TIFF, let read)) = answer else { throw Unexpected(answer) }
        #expect(read.hasPrefix("äää") && read.utf8.count <= WorkerAnswer.mostReason + 3)
    }
}
