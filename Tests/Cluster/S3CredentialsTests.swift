import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import Testing

/// Where the keys for a store are found.
@Suite struct S3CredentialsTests {
    private let folder: TemporaryDirectory
    private let origin: OriginServer
    private static let answer = OriginResponse.ok(
        Data("{\"AccessKeyId\": \"c\", \"SecretAccessKey\": \"s\"}".utf8))

    init() async throws {
        folder = try TemporaryDirectory()
        origin = try await OriginServer.start()
    }

    private func credentials(
        _ environment: [String: String], _ clock: ManualClock = ManualClock()
    ) throws -> S3Credentials {
        // Otherwise those of whoever runs the tests would be found.
        let own = ["HOME": folder.url.path].merging(environment) { $1 }
        return try S3Credentials(environment: own, timeout: .seconds(30), time: clock.time)
    }

    private func found(_ environment: [String: String]) async throws -> S3Keys {
        try await credentials(environment).keys()
    }

    /// Those that `/keys` of an origin gives.
    private func container(_ clock: ManualClock = ManualClock()) throws -> S3Credentials {
        try credentials(
            ["AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/keys").absoluteString], clock)
    }

    private func file(_ text: String, _ path: String = "credentials") throws -> String {
        try folder.write(Data(text.utf8), to: path).path
    }

    private static let profiles = """
        # Those of two users.
        [default]
        aws_access_key_id = first
        aws_secret_access_key=one=1

        [ other ]
        aws_access_key_id = second
        aws_secret_access_key = two
        aws_session_token = token
        """

    @Test func theEnvironmentIsLookedAtFirst() async throws {
        let file = try file(Self.profiles)
        let keys = try await found([
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t",
            "AWS_SHARED_CREDENTIALS_FILE": file,
        ])
        #expect(keys == S3Keys(accessKey: "a", secretKey: "s", sessionToken: "t"))
    }

    @Test func aFileHasProfiles() async throws {
        let file = try file(Self.profiles)
        #expect(
            try await found(["AWS_SHARED_CREDENTIALS_FILE": file])
                == S3Keys(accessKey: "first", secretKey: "one=1"))
        #expect(
            try await found(["AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "other"])
                == S3Keys(accessKey: "second", secretKey: "two", sessionToken: "token"))
        await #expect(throws: EngineError.self) {
            try await found(["AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "third"])
        }
    }

    @Test func theFileOfTheUserIsFound() async throws {
        _ = try file(Self.profiles, ".aws/credentials")
        #expect(try await found([:]).accessKey == "first")
    }

    @Test func aContainersAddressGivesKeysThatEnd() async throws {
        let answer = """
            {"AccessKeyId": "c", "SecretAccessKey": "s", "Token": "t",
             "Expiration": "2100-01-01T00:00:00Z"}
            """
        origin.route("/keys", .ok(Data(answer.utf8), contentType: "application/json"))
        let environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/keys").absoluteString,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": try file("secret\n"),
        ]
        let keys = try await found(environment)
        #expect(keys.accessKey == "c" && keys.secretKey == "s" && keys.sessionToken == "t")
        #expect(keys.expires == Date(timeIntervalSince1970: 4_102_444_800))
        #expect(origin.requests.first?.headers["Authorization"] == "secret")
    }

    @Test func aContainersAddressThatIsNeitherEncryptedNorOfThisMachineIsNotAsked() async throws {
        await #expect(throws: EngineError.self) {
            try await found(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.com/keys"])
        }
    }

    @Test(arguments: ["{}", "[]", "", "{\"AccessKeyId\": 1}"])
    func whatIsNoAnswerOfAContainerIsAnError(text: String) async throws {
        origin.route("/keys", .ok(Data(text.utf8)))
        await #expect(throws: EngineError.self) { try await container().keys() }
    }

    @Test func keysAreLookedForAgainAfterAMinuteBeforeTheirEndAndWhenTheyAreRefused() async throws {
        origin.route("/keys", Self.answer)
        let clock = ManualClock()
        let credentials = try container(clock)
        let keys = try await credentials.keys()
        clock.advance(by: .seconds(59))
        _ = try await credentials.keys()
        #expect(origin.requestCount == 1)
        // What is known is used meanwhile.
        clock.advance(by: .seconds(2))
        #expect(try await credentials.keys() == keys)
        await origin.waitForRequests(2)
        credentials.distrust(keys)
        clock.advance(by: .seconds(1))
        #expect(try await credentials.keys() == keys)
        #expect(origin.requestCount == 2 || origin.requestCount == 3)
    }

    @Test func aSearchInVainRestsAndKeysThatAreGoodAreUsedMeanwhile() async throws {
        let clock = ManualClock()
        let credentials = try container(clock)
        for _ in 0..<4 {
            await #expect(throws: EngineError.self) { try await credentials.keys() }
            clock.advance(by: .seconds(1))
        }
        #expect(origin.requestCount == 1)
        origin.route("/keys", Self.answer)
        clock.advance(by: .seconds(2))
        let keys = try await credentials.keys()
        origin.route("/keys", .status(500))
        clock.advance(by: .seconds(64))
        #expect(try await credentials.keys() == keys)
        await origin.waitForRequests(3)
        clock.advance(by: .seconds(1))
        #expect(try await credentials.keys() == keys)
    }

    @Test func whoWaitsForASearchWaitsAsLongAsHeMay() async throws {
        let gate = Gate()
        origin.route("/keys", Self.answer.with(.wait(.gate(gate))))
        let clock = ManualClock()
        let credentials = try container(clock)
        let search = Task { try await credentials.keys(until: clock.time.now + .milliseconds(50)) }
        await gate.waitForWaiters()
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(50))
        await #expect(throws: EngineError.self) { try await search.value }
        // It goes on.
        gate.open()
        #expect(try await credentials.keys().accessKey == "c")
        #expect(origin.requestCount == 1)
    }

    @Test func manyWhoAskAtOnceAskOnce() async throws {
        let gate = Gate()
        origin.route("/keys", Self.answer.with(.wait(.gate(gate))))
        let credentials = try container()
        let all = try await withThrowingTaskGroup(of: S3Keys.self) { group in
            for _ in 0..<20 { group.addTask { try await credentials.keys() } }
            await gate.waitForWaiters()
            gate.open()
            return try await group.reduce(into: Set<S3Keys>()) { $0.insert($1) }
        }
        #expect(all.count == 1)
        #expect(origin.requestCount == 1)
    }
}
