import Foundation
import Glibc
import Testing

/// Machines on which a part of the wall, or all of it, cannot be had.
@Suite(.timeLimit(.minutes(5))) struct WorkerCircumstanceTests {
    private static let files = ["trial:good#1", "trial:abort", "trial:good#2"]

    @Test(arguments: [
        ("seccomp", "a list of system calls (seccomp)"),
        ("landlock", "keeping files away (Landlock)"),
        ("limits", "limits of memory and descriptors"),
        ("seccomp,landlock", "keeping files away (Landlock), a list of system calls (seccomp)"),
    ])
    func whatTheSystemRefusesIsToldOnce(_ calls: String, _ name: String) async throws {
        let lines = try await TrialRun.decode(Self.files, options: ["--refuse", calls])
        #expect(lines.outcomes == ["ok", "error", "ok"])
        let told = lines.reports.filter { $0.hasPrefix("Decoding workers run without") }
        #expect(
            told == ["Decoding workers run without \(name): not supported or not permitted here"])
    }

    /// One that stops itself is not told from one that somebody has stopped then.
    @Test func aWorkerWithoutAListOfCallsStopsItselfInVain() async throws {
        let lines = try await TrialRun.decode(
            ["trial:stop", "trial:good"], options: ["--refuse", "seccomp"])
        #expect(lines.errors == ["The decoder of TIFF stopped (SIGSTOP)."])
        #expect(lines.outcomes == ["error", "ok"])
    }

    /// The pages of a file on a file system that is full cannot be had while they are written to.
    @Test(.enabled(if: getuid() == 0, "mounts are for root"))
    func withoutMemoryFilesTheyAreTakenFromAFileSystemThatMayBeFull() async throws {
        func lines(_ size: String, _ files: [String]) async throws -> [TrialRun.Line] {
            try await TrialRun.decode(
                files, options: ["--refuse", "memory-files"],
                after: Self.inNamespace("mount -t tmpfs -o size=\(size) none /dev/shm"))
        }
        let large = "trial:good#2@2000x1000"
        let some = try await lines("4m", ["trial:good#1", large, "trial:good#3"])
        #expect(some.outcomes == ["ok", "error", "ok"])
        #expect(
            some.errors == ["The image could not be processed: there is no memory for its pixels."])
        let none = try await lines("100k", ["trial:good#1", large])
        #expect(none.outcomes == ["ok", "ok"])
        #expect(none.reports.contains { $0.hasPrefix("Decoding without workers: ") })
    }

    @Test(.enabled(if: getuid() == 0, "mounts are for root"))
    func workersStartWithoutProc() async throws {
        let lines = try await TrialRun.decode(
            Self.files, after: Self.inNamespace("mount -t tmpfs none /proc"))
        #expect(lines.outcomes == ["ok", "error", "ok"])
    }

    /// Libraries do other things for users without rights: Dispatch complains to the system's log.
    @Test(.enabled(if: getuid() == 0, "root can be another user"))
    func workersStartForUsersWithoutRights() async throws {
        let lines = try await TrialRun.decode(
            Self.files, after: "exec setpriv --reuid 65534 --clear-groups \"$0\" \"$@\"")
        #expect(lines.outcomes == ["ok", "error", "ok"] && lines.counts?.started == 2)
    }

    private static func inNamespace(_ command: String) -> String {
        "exec unshare -m bash -c '\(command); exec \"$0\" \"$@\"' \"$0\" \"$@\""
    }

    @Test(arguments: ["/nonexistent", "/bin/false", "/bin/cat"])
    func whereNoneHasEverStartedPicturesAreDecodedInTheProcess(_ program: String) async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:good#2", "trial:good#3"], options: ["--program", program])
        #expect(lines.outcomes == ["ok", "ok", "ok"] && lines.counts?.started == 0)
        #expect(lines.reports.count { $0.hasPrefix("Decoding without workers: ") } == 1)
    }

    @Test func withFewDescriptorsPicturesAreDecodedInTheProcess() async throws {
        let lines = try await TrialRun.decode(
            ["trial:good#1", "trial:good#2"], after: "ulimit -n 11")
        #expect(lines.outcomes == ["ok", "ok"] && lines.counts?.started == 0)
    }
}
