import Foundation
import Glibc
import Testing

/// Pictures that have their decoder do what it should not, in the program `DecodingTrial`.
@Suite(.timeLimit(.minutes(5))) struct HostilePictureTests {
    private static let nonsense = "The decoder of TIFF stopped (malformed answer)."

    private static func stopped(_ reason: String) -> String {
        "The decoder of TIFF stopped (\(reason))."
    }

    @Test(arguments: [
        ("abort", stopped("SIGABRT")), ("outside", stopped("SIGSEGV")),
        ("recurse", stopped("SIGSEGV")), ("fork", stopped("SIGSYS")),
        ("execute", stopped("SIGSYS")), ("connect", stopped("SIGSYS")),
        ("stop", stopped("SIGSYS")), ("exit", stopped("it ended")), ("flood", nonsense),
        ("none", nonsense), ("zero", nonsense), ("frames", nonsense), ("cut", nonsense),
        ("other", nonsense), ("size", nonsense), ("channels", nonsense), ("depth", nonsense),
        ("huge", nonsense), ("pixels", nonsense), ("beyond", nonsense),
    ])
    func aPictureThatEndsItsDecoderFailsAndEndsNothingElse(
        _ action: String, _ error: String
    ) async throws {
        let lines = try await TrialRun.decode([
            "trial:good#1", "trial:\(action)", "trial:good#2", "trial:\(action)", "trial:good#3",
        ])
        #expect(lines.outcomes == ["ok", "error", "ok", "error", "ok"])
        #expect(lines.errors == [error, error])
        // The second time no worker was asked.
        #expect(lines.counts?.died == 1)
    }

    /// One request opens and decodes it.
    @Test(arguments: [
        ("abort", stopped("SIGABRT")), ("exit", stopped("it ended")), ("other", nonsense),
        ("frames", nonsense), ("pixels", nonsense), ("beyond", nonsense),
    ])
    func aPictureThatIsDecodedWhenItIsOpenedFailsAlone(
        _ action: String, _ error: String
    ) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:\(action)", "trial:good#2", "trial:\(action)"],
            options: ["--at-once"])
        #expect(lines.outcomes == ["ok", "error", "ok", "error"])
        #expect(lines.errors == [error, error])
        #expect(lines.counts?.died == 1)
    }

    /// The second has more pixels than fit into the region for a first picture, the third as many.
    @Test func picturesOfAnySizeAreRightWhenTheyAreDecodedAtOnce() async throws {
        let lines = try await TrialRun.decode(
            [
                "trial:good#1", "trial:good#2@1000x900", "trial:good#3@1000x900",
                "trial:good#4@2000x1500", "trial:good#5",
            ], options: ["--at-once"])
        #expect(lines.outcomes == ["ok", "ok", "ok", "ok", "ok"])
        #expect(lines.counts?.died == 0)
    }

    @Test(arguments: ["spin", "sleep", "allocate"])
    func aPictureThatTakesTooLongFailsAfterItsTime(_ action: String) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:\(action)", "trial:good#2"], options: ["--limit", "1500"])
        #expect(lines.outcomes == ["ok", "error", "ok"])
        let errors = [
            "Decoding the image takes longer than the limit of 1.5 seconds.",
            // Memory may come to its end before.
            Self.stopped("SIGABRT"),
        ]
        #expect(errors.contains(lines.errors[0]))
    }

    @Test func picturesThatTakeLongHoldNobodyUp() async throws {
        let long = (0..<6).map { "trial:spin#\($0)" }
        let good = (0..<50).map { "trial:good#\($0)" }
        let lines = try await TrialRun.decode(
            long + good, options: ["--threads", "7", "--limit", "8000"])
        let outcomes = Array(repeating: "ok", count: 50) + Array(repeating: "error", count: 6)
        #expect(lines.outcomes == outcomes)
    }

    /// The machine may have had much to do.
    @Test func aPictureThatTookTooLongIsTriedAgainWithMoreTime() async throws {
        let lines = try await TrialRun.decode(
            ["trial:spin", "trial:spin", "trial:good"], options: ["--limit", "1000"])
        #expect(lines.outcomes == ["error", "error", "ok"])
        // The second time it is known.
        #expect(lines.counts?.killed == 1)
        let again = try await TrialRun.decode(
            ["trial:spin", "trial:spin"], options: ["--limit", "1000,3000"])
        #expect(again.outcomes == ["error", "error"] && again.counts?.killed == 2)
    }

    /// A picture that reads or writes files ends its decoder when it is let do it.
    @Test(arguments: ["read", "write", "errors"])
    func aDecoderGetsNoFilesAndMayComplainAtLength(_ action: String) async throws {
        let lines = try await TrialRun.decode(["trial:\(action)", "trial:good"])
        #expect(lines.outcomes == ["ok", "ok"])
        #expect(lines.counts?.died == 0 && lines.reports.count <= 40)
    }

    /// What is too much is no matter of the pictures that come after it.
    @Test func aSecondAnswerIsNotTakenForThatOfAnotherPicture() async throws {
        let files = (0..<20).flatMap { ["trial:twice#\($0)", "trial:good#\($0)"] }
        let lines = try await TrialRun.decode(files)
        #expect(lines.good.map(\.outcome) == Array(repeating: "ok", count: 20))
    }

    @Test(arguments: ["svg-tile", "svg-language", "svg-turbulence"])
    func aDrawingThatLibrsvgCannotTakeFailsAlone(_ drawing: String) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:\(drawing)", "trial:good#2"], options: ["--limit", "2000"])
        #expect(lines.good.outcomes == ["ok", "ok"])
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func aWorkerThatSomebodyEndsOrStopsCostsNoPicture(_ signal: Int32) async throws {
        let idle = try await TrialRun.decode(
            ["trial:good#1", "trial:good#2", "trial:good#3"], options: ["--signal", "\(signal)"])
        #expect(idle.outcomes == ["ok", "ok", "ok"])
        let atWork = try await TrialRun.decode(
            ["trial:unless-calm"], options: ["--signal", "\(signal)"])
        #expect(atWork.outcomes == ["ok"] && atWork.counts?.started == 2)
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func aTemplateThatSomebodyEndsOrStopsIsReplaced(_ signal: Int32) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:abort", "trial:good#2"],
            options: ["--signal", "\(signal)", "--to-template"])
        #expect(lines.outcomes == ["ok", "error", "ok"] && lines.counts?.started == 2)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func noWorkerIsLeftBehind(_ signal: Int32) async throws {
        let run = try TrialRun(["decode", "--threads", "2", "trial:sleep#1", "trial:spin#2"])
        let workers = await run.workers()
        #expect(!workers.isEmpty)
        run.send(signal)
        #expect(await run.exitCode() == 128 + signal)
        for worker in workers { #expect(TrialRun.hasEnded(worker)) }
    }

    @Test(arguments: ["sleep", "spin"])
    func nobodyWaitsForAPictureThatIsGivenUp(_ action: String) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:\(action)", "trial:good#2"], options: ["--give-up"])
        // Without the end of its worker it would take half a minute, which is what it may take.
        let time = try #require(lines.first { $0.name == "trial:\(action)" }?.milliseconds)
        #expect(lines.outcomes[1] == "error" && time < 25_000 && lines.counts?.killed == 1)
    }

    @Test func aThousandPicturesAtOnceAreRight() async throws {
        let files = (0..<1000).map { $0 % 100 == 50 ? "trial:abort#\($0)" : "trial:good#\($0)" }
        let run = try TrialRun(["decode", "--threads", "200", "--limit", "120000"] + files)
        #expect(await run.exitCode() == 0)
        let lines = await run.all()
        #expect(lines.outcomes.count { $0 == "ok" } == 990 && lines.errors.count == 10)
    }

    @Test func killersCostNoGoodPicture() async throws {
        let run = try TrialRun(["mixed", "200", "23", "--limit", "6000"])
        #expect(await run.exitCode() == 0)
        let passes = await run.all().filter { $0.pass != nil }
        #expect(passes.map(\.right) == [200, 200])
        #expect(passes.map(\.wrong) == [0, 0] && passes.map(\.lost) == [0, 0])
    }
}
