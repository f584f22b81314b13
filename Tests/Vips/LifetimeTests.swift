import Foundation
import Testing

@testable import Vips

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

@Suite struct ConcurrencyTests {
    @Test func givesEqualResultsOnManyThreads() throws {
        let source = try Pixels.gradient(400, 300).image()
        let jpeg = try source.encoded("jpegsave_buffer")
        let webp = try source.encoded("webpsave_buffer")
        @Sendable func work(_ index: Int) throws -> Data {
            let image =
                index % 2 == 0
                ? try VipsImage.load("jpegload_buffer", bytes: jpeg, ["access": "sequential"])
                : try VipsImage.load("webpload_buffer", bytes: webp)
            return try image.resized(to: 120, height: 90).addingAlpha()
                .encoded("pngsave_buffer")
        }
        let expected = [try work(0), try work(1)]
        let results = onThreads(16) { index in
            (0..<8).map { round in Result { try work(index + round) } }
        }
        for (index, rounds) in results.enumerated() {
            for (round, result) in rounds.enumerated() {
                #expect(try result.get() == expected[(index + round) % 2])
            }
        }
    }

    /// Each of these operations has machine code made for it, and freed, where libvips uses Orc.
    @Test func makesAndLeavesOperationsOnManyThreads() throws {
        let source = try Pixels.gradient(40, 40).image()
        let failures = onThreads(4) { index in
            (0..<400).reduce(into: 0) { failures, round in
                do {
                    let reduced = try source.resized(to: 12 + (index + round) % 20, height: 15)
                    _ = try reduced.apply("gaussblur", ["sigma": .double(1 + Double(round) / 200)])
                        .rendered()
                } catch {
                    failures += 1
                }
            }
        }
        #expect(failures == [0, 0, 0, 0])
    }

    @Test func sharesOneImageBetweenThreads() throws {
        let source = Pixels.numbered(200, 200, 3)
        let image = try source.image().flippedHorizontally()
        let expected = Pixels(200, 200, 3) { x, y, band in source[199 - x, y][band] }
        let results = onThreads(8) { index in
            Result {
                let own = try image.settingMetadata([("thread", .int(index))])
                return (try Pixels(own), own.int("thread"))
            }
        }
        for (index, result) in results.enumerated() {
            let (pixels, thread) = try result.get()
            #expect(pixels == expected)
            #expect(thread == index)
        }
    }

    /// In a process of its own: while libvips tries whether it can read something, it drops the messages of all
    /// threads, those of other tests, too.
    @Test func namesTheOperationOfEachConcurrentFailure() async {
        await #expect(processExitsWith: .success) {
            let good = try Pixels.gradient(100, 80).image()
            let cutJPEG = try Pixels.numbered(300, 200, 3).image().encoded("jpegsave_buffer")
                .dropLast(9000)
            let garbage = Data(repeating: 0x55, count: 3000)
            // What fails, in whose name, and a word that only its own message has.
            let signature = Vips.version.starts(with: "8.14.") ? "PNG" : "invalid signature"
            let kinds: [(operation: String, word: String, body: @Sendable () throws -> Void)] = [
                (
                    "extract_area", "extract_area",
                    { _ = try good.cropped(left: 90, top: 0, width: 20, height: 1) }
                ),
                ("jpegload_buffer", "Jpeg", { _ = try load("jpeg", garbage) }),
                ("webpload_buffer", "webp", { _ = try load("webp", garbage) }),
                ("gifload_buffer", "gif", { _ = try load("gif", garbage) }),
                ("heifload_buffer", "heif", { _ = try load("heif", garbage) }),
                ("pngload_buffer", signature, { _ = try load("png", garbage) }),
                (
                    "render", "Jpeg",
                    {
                        let image = try VipsImage.load(
                            "jpegload_buffer", bytes: cutJPEG, ["fail_on": "truncated"])
                        _ = try image.rendered()
                    }
                ),
                ("no_such", "no_such", { _ = try good.apply("no_such") }),
                ("affine", "", { _ = try good.apply("affine", ["matrix": [0, 0, 0, 0]]) }),
            ]
            let results = onThreads(kinds.count) { index in
                (0..<60).map { _ in Result { try kinds[index].body() } }
            }
            let words = Set(kinds.map(\.word).filter { !$0.isEmpty })
            // A message may get lost; not one goes to somebody else.
            var lost = 0
            for (kind, rounds) in zip(kinds, results) {
                for result in rounds {
                    let error = #expect(throws: VipsError.self) { try result.get() }
                    guard let error else { continue }
                    #expect(error.operation == kind.operation)
                    if error.message == VipsError.unexplained {
                        lost += 1
                        continue
                    }
                    #expect(error.message.contains(kind.word) || kind.word.isEmpty, "\(error)")
                    for word in words where word != kind.word {
                        #expect(!error.message.contains(word), "\(error)")
                    }
                }
            }
            #expect(lost <= kinds.count * 60 / 20)
        }
    }

    @Test func startsAndEndsJobsFromAnyThread() {
        let versions = onThreads(12) { _ in
            Vips.start()
            Vips.endJob()
            return Vips.version
        }
        #expect(Set(versions).count == 1)
    }
}

private func load(_ format: String, _ data: Data) throws -> VipsImage {
    try VipsImage.load("\(format)load_buffer", bytes: data)
}

@Suite struct OpenCallsTests {
    private let calls = OpenCalls()

    @Test func theEndDoesNotWaitForCallsThatAreOver() {
        #expect(calls.enter())
        calls.leave()
        calls.close(waitingAtMost: .max)
    }

    @Test func theEndWaitsForACallUnderWay() async {
        #expect(calls.enter())
        let flag = Flag()
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        Thread.detachNewThread { [calls] in
            calls.close(waitingAtMost: .max)
            answer.yield(flag.isSet)
        }
        // Calls are refused as soon as the end has begun to wait.
        while calls.enter() {
            calls.leave()
            await Task.yield()
        }
        flag.set()
        calls.leave()
        var iterator = answers.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    @Test func theEndComesWhenPatienceIsOver() {
        #expect(calls.enter())
        calls.close(waitingAtMost: 3)
        #expect(!calls.enter())
    }
}
