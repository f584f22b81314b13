import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What servers say of their images counts on all machines that share them.
@Suite struct SharedFreshnessTests {
    private let machines: SharedMachines

    init() async throws { machines = try await SharedMachines(.on) }

    @Test func whatIsFreshIsNotAskedForByAnotherMachine() async throws {
        machines.serve(3, "max-age=60", tag: "\"1\"")
        #expect(try await machines.one.got().hasPrefix("3 fetched"))
        #expect(try await machines.two.got() == "3 fresh")
        machines.two.cache.clearMemoryCache()
        #expect(try await machines.two.got() == "3 fresh")
        #expect(machines.origin.requestCount == 1 && machines.table.count(.store) == 1)
    }

    @Test func whatIsStaleIsValidatedByItsTag() async throws {
        machines.serve(3, "max-age=60", tag: "\"1\"")
        _ = try await machines.one.got()
        machines.one.pass(100)
        #expect(try await machines.two.got() == "3 validated")
        #expect(machines.origin.requests.last?.headers["If-None-Match"] == "\"1\"")
        // It has been said to this machine.
        #expect(try await machines.two.got() == "3 fresh")
        machines.serve(4, "max-age=60", tag: "\"2\"")
        machines.one.pass(100)
        #expect(try await machines.one.got().hasPrefix("4 fetched"))
        #expect(machines.table.count(.store) == 2)
    }

    @Test(arguments: ["private, max-age=60", "no-store"])
    func aPictureThatIsNotForAllIsNotShared(_ words: String) async throws {
        machines.serve(3, words)
        _ = try await machines.one.got()
        #expect(try await machines.two.got().hasPrefix("3 fetched"))
        #expect(machines.table.objects.value.isEmpty)
    }

    @Test(arguments: [("max-age=60", false), ("public, max-age=60", true)])
    func whatWasAskedForWithCredentialsIsSharedOnlyIfItMayBe(
        _ words: String, _ isShared: Bool
    ) async throws {
        machines.serve(3, words)
        let modifier = setting(["Authorization": "Bearer a"])
        _ = try await machines.one.got([.requestModifier(modifier)])
        #expect(machines.table.objects.value.isEmpty != isShared)
        let second = try await machines.two.got()
        #expect((second == "3 fresh") == isShared)
    }

    private let small = KingfisherOptionsInfoItem.processor(
        DownsamplingImageProcessor(size: CGSize(width: 2, height: 2)))

    @Test(arguments: [("max-age=60", 2), ("private, max-age=60", 0)])
    func aPictureMadeOfAnOriginalIsSharedAsTheOriginalIs(
        _ words: String, _ count: Int
    ) async throws {
        machines.serve(8, words)
        _ = try await machines.one.got()
        _ = try await machines.one.got([small])
        #expect(machines.table.objects.value.count == count)
        #expect(machines.origin.requestCount == 1)
    }

    @Test func anotherPictureIsMadeOfAFreshOriginalOfAnotherMachine() async throws {
        machines.serve(8, "max-age=60")
        _ = try await machines.one.got()
        #expect(try await machines.two.got([small]).hasSuffix("fresh"))
        #expect(machines.origin.requestCount == 1)
    }

    @Test func whatTheProgramHasStoredIsItsWordOnAllMachines() async throws {
        try await machines.one.cache.store(testImage(width: 7), forKey: machines.url.cacheKey)
        await machines.table.objects.wait { !$0.isEmpty }
        #expect(try await machines.two.got() == "7 fresh")
        #expect(machines.origin.requestCount == 0)
    }

    @Test func whatIsGoneIsGoneForAll() async throws {
        machines.serve(3, "max-age=60", tag: "\"1\"")
        _ = try await machines.one.got()
        machines.one.pass(100)
        machines.origin.route("/a.png", .status(404))
        await #expect(throws: KingfisherError.self) { try await machines.one.got() }
        await machines.table.objects.wait { $0.isEmpty }
        #expect(machines.table.count(.remove) > 0)
    }

    @Test func whatIsKnownHereIsNotReplacedByWhatIsOlder() async throws {
        let blurred = KingfisherOptionsInfoItem.processor(BlurImageProcessor(blurRadius: 1))
        machines.serve(3, "max-age=60", tag: "\"1\"")
        for options in [[], [blurred]] { _ = try await machines.one.got(options) }
        machines.one.pass(100)
        machines.serve(4, "max-age=60", tag: "\"2\"")
        #expect(try await machines.two.got().hasPrefix("4 fetched"))
        // That of the first machine was made of the old one.
        #expect(try await machines.two.got([blurred]) == "4 fresh")
        #expect(machines.origin.requestCount == 2)
    }

    @Test func secretsOfAnAddressAreNotShared() async throws {
        let path = "/a.png?token=s3cret"
        machines.one.serve(3, at: path)
        machines.serve(3, "max-age=60")
        _ = try await machines.one.get(at: path)
        let texts = machines.table.objects.value.map { $0 + String(decoding: $1, as: UTF8.self) }
        #expect(texts.count == 1)
        #expect(texts.allSatisfy { !$0.contains("s3cret") && $0.contains("***") })
        #expect(try await machines.two.got(at: path) == "3 fresh")
        #expect(machines.origin.requestCount == 1)
    }

    @Test func anAnswerWithMoreWordsThanMetadataMayHaveIsShared() async throws {
        machines.origin.route(
            "/a.png",
            FreshnessFixture.picture(3).header("Vary", "Accept-Language")
                .header("X-Words", String(repeating: "long ", count: 2_000)))
        _ = try await machines.one.got()
        #expect(try await machines.two.got() == "3 fresh")
        let german = KingfisherOptionsInfoItem.requestModifier(setting(["Accept-Language": "de"]))
        // It is not of this request's variant.
        machines.two.cache.clearMemoryCache()
        #expect(try await machines.two.got([german]).hasPrefix("3 fetched"))
    }
}
