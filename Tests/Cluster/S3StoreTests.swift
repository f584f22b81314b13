import Foundation
import HalcyonCluster
import HalcyonTestKit
import Testing

/// The store of bytes against a server that answers as it is told; against a real store see
/// scripts/cluster-test.
@Suite struct S3StoreTests {
    private let object = SharedObject(body: Data("pixels".utf8), mediaType: "image/png")
    private let path = "/bucket/some/prefix/a"
    private let origin: OriginServer

    init() async throws { origin = try await OriginServer.start() }

    private func store(_ change: (inout S3Store.Settings) -> Void = { _ in }) throws -> S3Store {
        var settings = S3Store.Settings(
            endpoint: origin.url(""), bucket: "bucket", region: "r",
            credentials: S3Credentials(S3Keys(accessKey: "a", secretKey: "s")))
        settings.prefix = "some/prefix"
        settings.timeout = .seconds(30)
        change(&settings)
        return try S3Store(settings)
    }

    /// One that lets a store that has failed so often alone for so long.
    private func store(
        lettingAloneAfter failures: Int, for pause: Duration = .seconds(60),
        _ told: Recorder<String> = Recorder()
    ) throws -> S3Store {
        try store {
            $0.breaker.failures = failures
            ($0.breaker.pause, $0.breaker.longestPause) = (pause, pause)
            $0.onPause = { told.record($0.reason) }
        }
    }

    /// SHA-256 of "pixels".
    private static let digest = "6ec9c2b0eb14010746c8bce8939303b382344b296206612eb8a907a37b2b2f37"

    private func answer(
        _ body: Data, length: String = "6", digest: String = S3StoreTests.digest
    ) -> OriginResponse {
        OriginResponse.ok(body, contentType: "image/png")
            .header("x-amz-meta-halcyon-length", length)
            .header("x-amz-meta-halcyon-sha256", digest)
    }

    /// A failure with the store's own word for it.
    private func refusal(_ status: Int, _ code: String) -> OriginResponse {
        let text = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>"
        var response = OriginResponse.ok(Data(text.utf8), contentType: "application/xml")
        response.status = status
        return response
    }

    @Test func anObjectIsPutOnceWithAllThatIsKnownOfIt() async throws {
        origin.route(path, .status(200))
        let store = try store()
        #expect(try await store.store(object, as: "a"))
        let request = try #require(origin.requests.first)
        #expect(request.method == "PUT")
        let fields = [
            "If-None-Match": "*", "Content-Type": "image/png", "x-amz-meta-halcyon-length": "6",
            "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
        ]
        for (name, value) in fields { #expect(request.headers[name] == value, "\(name)") }
        #expect(request.headers["Authorization"]?.contains("Credential=a/") == true)
        origin.route(path, .status(412))
        #expect(try await !store.store(object, as: "a"))
    }

    @Test func anObjectHasTheGenerationThatItWasPutWith() async throws {
        origin.route(path, .status(200))
        let store = try store()
        var object = object
        object.generation = 1_700_000_000_000_000
        #expect(try await store.store(object, as: "a"))
        let field = "x-amz-meta-halcyon-generation"
        #expect(origin.requests.first?.headers[field] == "1700000000000000")
        #expect(origin.requests.first?.headers["Authorization"]?.contains(field) == true)
        origin.route(path, answer(object.body).header(field, "1700000000000000"))
        #expect(try await store.object("a") == .whole(object))
    }

    @Test(
        arguments: [
            (nil, 0, true), (nil, 1, false), (5, 0, true), (5, 4, true), (5, 5, false),
            (5, 6, false),
        ] as [(Int64?, Int64, Bool)])
    func anObjectIsNewerThanAMark(generation: Int64?, mark: Int64, isNewer: Bool) {
        #expect(SharedObject(body: Data(), generation: generation).isNewer(than: mark) == isNewer)
    }

    @Test func anObjectIsReplacedAndRemovedWhenThatIsAskedFor() async throws {
        origin.route(path, .status(200))
        let store = try store()
        #expect(try await store.store(object, as: "a", replacing: true))
        #expect(origin.requests.first?.headers["If-None-Match"] == nil)
        origin.route(path, .status(204))
        try await store.remove("a")
        origin.route(path, .status(404))
        try await store.remove("a")
        #expect(origin.requests.map(\.method) == ["PUT", "DELETE", "DELETE"])
    }

    @Test func whatIsNotWholeIsDamagedAndWhatIsNotThereIsMissing() async throws {
        let store = try store()
        origin.route(path, answer(object.body))
        #expect(try await store.object("a") == .whole(object))
        let damaged: [OriginResponse] = [
            answer(Data("pixelz".utf8)), answer(Data("pixel".utf8)),
            answer(object.body, length: "7"),
            answer(object.body, digest: String(repeating: "0", count: 64)), .ok(object.body),
        ]
        for response in damaged {
            origin.route(path, response)
            #expect(try await store.object("a") == .damaged)
        }
        origin.route(path, .status(404))
        #expect(try await store.object("a") == .missing)
    }

    @Test func charactersThatStoresEscapeAreSentEscaped() async throws {
        let store = try store {
            $0.endpoint = origin.url("/a+b")
            $0.prefix = "it's (here)!*"
        }
        _ = try await store.object("s/AB+CD/1")
        #expect(
            origin.requests.map(\.target) == [
                "/a%2Bb/bucket/it%27s%20%28here%29%21%2A/s/AB%2BCD/1"
            ])
    }

    @Test func whatMayNotBeSeenIsMissingAndNoFailure() async throws {
        origin.route(path, refusal(403, "AccessDenied"))
        let store = try store(lettingAloneAfter: 3)
        for _ in 0..<5 { #expect(try await store.object("a") == .missing) }
        #expect(store.breakerState == .closed)
        #expect(origin.requestCount == 5)
        // But nothing may be stored.
        await #expect(throws: EngineError("the store has answered with 403, AccessDenied")) {
            try await store.store(object, as: "a")
        }
    }

    @Test func aBucketThatIsNotThereIsAFailure() async throws {
        let told = Recorder<String>()
        let store = try store(lettingAloneAfter: 2, told)
        origin.route(path, refusal(404, "NoSuchKey"))
        for _ in 0..<5 { #expect(try await store.object("a") == .missing) }
        origin.route(path, refusal(404, "NoSuchBucket"))
        for _ in 0..<2 { await #expect(throws: EngineError.self) { try await store.object("a") } }
        #expect(store.breakerState == .open)
        #expect(told.events == ["the store has answered with 404, NoSuchBucket"])
    }

    @Test func whyTheStoreIsLetAloneIsToldOnce() async throws {
        origin.route(path, refusal(403, "SignatureDoesNotMatch"))
        let told = Recorder<String>()
        let store = try store(lettingAloneAfter: 2, for: .zero, told)
        for _ in 0..<6 { _ = try? await store.object("a") }
        #expect(origin.requestCount == 6)
        #expect(told.events == ["the store has answered with 403, SignatureDoesNotMatch"])
    }

    @Test func whoWaitsForATurnInVainSaysNothingOfTheStore() async throws {
        let gate = Gate()
        origin.route(path, answer(object.body).with(.wait(.gate(gate))))
        let store = try store {
            $0.width = 1
            $0.timeout = .milliseconds(500)
            $0.breaker.failures = 10
            $0.breaker.pause = .seconds(60)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { _ = try? await store.object("a") } }
        }
        gate.open()
        #expect(store.breakerState == .closed)
    }

    @Test func puttingAndRemovingUseTheConnectionThatIsThere() async throws {
        origin.route(path, .status(200))
        let store = try store()
        for _ in 0..<3 {
            #expect(try await store.store(object, as: "a", replacing: true))
            try await store.remove("a")
        }
        #expect(origin.connectionCount == 1 && origin.requests.first?.body == object.body)
    }

    @Test(arguments: [500, 503, 403, 429])
    func aStoreThatFailsIsLetAlone(status: Int) async throws {
        origin.route(path, .status(status))
        let store = try store(lettingAloneAfter: 3)
        for _ in 0..<5 { await #expect(throws: EngineError.self) { try await store.object("a") } }
        #expect(origin.requestCount == 3)
        #expect(store.breakerState == .open)
    }

    @Test func aStoreThatIsSlowOrBreaksOffCostsItsTimeLimit() async throws {
        let gate = Gate()
        origin.route(path, answer(object.body).with(.wait(.gate(gate))))
        let store = try store { $0.timeout = .milliseconds(100) }
        await #expect(throws: EngineError.self) { try await store.object("a") }
        gate.open()
        origin.route(path, answer(object.body).with(.breakOff(afterBytes: 3, .reset)))
        await #expect(throws: EngineError.self) { try await store.object("a") }
    }

    @Test func whatIsTooLargeIsNotRead() async throws {
        origin.route(path, .endless())
        let store = try store { $0.maximumBytes = 1 << 20 }
        await #expect(throws: EngineError.self) { try await store.object("a") }
    }
}
