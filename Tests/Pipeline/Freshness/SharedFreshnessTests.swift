import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What servers say of their images counts on all machines that share them.
@Suite struct SharedFreshnessTests {
    @Test func whatIsFreshIsNotAskedForByAnotherMachine() async throws {
        let machines = try await SharedMachines(.on)
        machines.serve(3, "max-age=60", tag: "\"1\"")
        #expect(try await machines.use(machines.one).hasPrefix("3 fetched"))
        #expect(try await machines.use(machines.two) == "3 fresh")
        machines.two.cache.clearMemoryCache()
        #expect(try await machines.use(machines.two) == "3 fresh")
        #expect(machines.origin.requestCount == 1)
        #expect(machines.table.count(.store) == 1)
    }

    @Test func whatIsStaleIsValidatedByItsTag() async throws {
        let machines = try await SharedMachines(.on)
        machines.serve(3, "max-age=60", tag: "\"1\"")
        _ = try await machines.use(machines.one)
        machines.clock.withLock { $0 += 100 }
        #expect(try await machines.use(machines.two) == "3 validated")
        #expect(machines.origin.requests.last?.headers["If-None-Match"] == "\"1\"")
        // It has been said to this machine.
        #expect(try await machines.use(machines.two) == "3 fresh")
        machines.serve(4, "max-age=60", tag: "\"2\"")
        machines.clock.withLock { $0 += 100 }
        #expect(try await machines.use(machines.one).hasPrefix("4 fetched"))
        #expect(machines.table.count(.store) == 2)
    }

    @Test func aPictureThatIsNotForAllIsNotShared() async throws {
        for words in ["private, max-age=60", "no-store"] {
            let machines = try await SharedMachines(.on)
            machines.serve(3, words)
            _ = try await machines.use(machines.one)
            #expect(try await machines.use(machines.two).hasPrefix("3 fetched"))
            #expect(machines.table.objects.value.isEmpty, "\(words)")
        }
    }

    @Test func whatWasAskedForWithCredentialsIsSharedOnlyIfItMayBe() async throws {
        let known = KingfisherOptionsInfoItem.requestModifier(
            setting(["Authorization": "Bearer a"]))
        for (words, isShared) in [("max-age=60", false), ("public, max-age=60", true)] {
            let machines = try await SharedMachines(.on)
            machines.serve(3, words)
            _ = try await machines.use(machines.one, [known])
            #expect(machines.table.objects.value.isEmpty != isShared, "\(words)")
            let second = try await machines.use(machines.two)
            #expect((second == "3 fresh") == isShared, "\(words)")
        }
    }

    @Test func aPictureMadeOfAnOriginalIsSharedAsTheOriginalIs() async throws {
        let small = KingfisherOptionsInfoItem.processor(
            DownsamplingImageProcessor(size: CGSize(width: 2, height: 2)))
        for (words, count) in [("max-age=60", 2), ("private, max-age=60", 0)] {
            let machines = try await SharedMachines(.on)
            machines.serve(8, words)
            _ = try await machines.use(machines.one)
            _ = try await machines.use(machines.one, [small])
            #expect(machines.table.objects.value.count == count, "\(words)")
            #expect(machines.origin.requestCount == 1)
        }
    }

    @Test func anotherPictureIsMadeOfAFreshOriginalOfAnotherMachine() async throws {
        let machines = try await SharedMachines(.on)
        machines.serve(8, "max-age=60")
        _ = try await machines.use(machines.one)
        let small = DownsamplingImageProcessor(size: CGSize(width: 2, height: 2))
        #expect(try await machines.use(machines.two, [.processor(small)]).hasSuffix("fresh"))
        #expect(machines.origin.requestCount == 1)
    }

    @Test func whatTheProgramHasStoredIsItsWordOnAllMachines() async throws {
        let machines = try await SharedMachines(.on)
        try await machines.one.cache.store(testImage(width: 7), forKey: machines.url.cacheKey)
        await machines.table.objects.wait { !$0.isEmpty }
        #expect(try await machines.use(machines.two) == "7 fresh")
        #expect(machines.origin.requestCount == 0)
    }

    @Test func whatIsGoneIsGoneForAll() async throws {
        let machines = try await SharedMachines(.on)
        machines.serve(3, "max-age=60", tag: "\"1\"")
        _ = try await machines.use(machines.one)
        machines.clock.withLock { $0 += 100 }
        machines.origin.route("/a.png", .status(404))
        await #expect(throws: KingfisherError.self) { try await machines.use(machines.one) }
        await machines.table.objects.wait { $0.isEmpty }
        #expect(machines.table.count(.remove) > 0)
    }

    @Test func whatIsKnownHereIsNotReplacedByWhatIsOlder() async throws {
        let machines = try await SharedMachines(.on)
        let blurred = KingfisherOptionsInfoItem.processor(BlurImageProcessor(blurRadius: 1))
        machines.serve(3, "max-age=60", tag: "\"1\"")
        for options in [[], [blurred]] { _ = try await machines.use(machines.one, options) }
        machines.clock.withLock { $0 += 100 }
        machines.serve(4, "max-age=60", tag: "\"2\"")
        #expect(try await machines.use(machines.two).hasPrefix("4 fetched"))
        // That of the first machine was made of the old one.
        #expect(try await machines.use(machines.two, [blurred]) == "4 fresh")
        #expect(machines.origin.requestCount == 2)
    }

    @Test func secretsOfAnAddressAreNotShared() async throws {
        let machines = try await SharedMachines(.on)
        machines.origin.route(
            "/a.png?token=s3cret",
            OriginResponse.png(SharedMachines.png(3)).cacheControl("max-age=60"))
        machines.serve(3, "max-age=60")
        let url = try #require(URL(string: machines.url.absoluteString + "?token=s3cret"))
        _ = try await machines.one.manager.retrieveImage(with: url)
        let texts = machines.table.objects.value.map { $0 + String(decoding: $1, as: UTF8.self) }
        #expect(texts.count == 1)
        #expect(texts.allSatisfy { !$0.contains("s3cret") && $0.contains("***") })
        let result = try await machines.two.manager.retrieveImage(with: url)
        #expect(result.httpCacheUse.map { "\($0)" } == "fresh")
        #expect(machines.origin.requestCount == 1)
    }

    @Test func anAnswerWithMoreWordsThanMetadataMayHaveIsShared() async throws {
        let machines = try await SharedMachines(.on)
        let response = OriginResponse.png(SharedMachines.png(3)).cacheControl("max-age=60")
            .header("Vary", "Accept-Language")
            .header("X-Words", String(repeating: "long ", count: 2_000))
        machines.origin.route("/a.png", response)
        _ = try await machines.use(machines.one)
        #expect(try await machines.use(machines.two) == "3 fresh")
        let german = KingfisherOptionsInfoItem.requestModifier(setting(["Accept-Language": "de"]))
        // It is not of this request's variant.
        machines.two.cache.clearMemoryCache()
        #expect(try await machines.use(machines.two, [german]).hasPrefix("3 fetched"))
    }
}
