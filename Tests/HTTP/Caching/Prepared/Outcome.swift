import Foundation
import Testing

/// The verdicts for a set of prepared cases.
struct Outcome {
    private enum Verdict {
        case pass, fail
    }

    private var verdicts: [String: Verdict] = [:]
    private var cases: [String: PreparedCase] = [:]
    private var failures: [String: FailedCheck] = [:]

    /// Judges what `play` finds of each case, on a thread of its own: a case waits for answers, step by step.
    static func of(
        _ tests: [PreparedCase], playedBy play: @escaping @Sendable (PreparedCase) -> FailedCheck?
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Outcome(of: tests, playedBy: play))
            }
        }
    }

    private init(of tests: [PreparedCase], playedBy play: (PreparedCase) -> FailedCheck?) {
        for test in tests {
            cases[test.id] = test
            failures[test.id] = play(test)
        }
        for id in cases.keys { _ = verdict(id) }
    }

    /// A case whose dependencies are not passed proves nothing, and so is not passed either.
    private mutating func verdict(_ id: String) -> Verdict {
        if let known = verdicts[id] { return known }
        var verdict = failures[id] == nil ? Verdict.pass : .fail
        for dependency in cases[id]?.dependsOn ?? [] where self.verdict(dependency) == .fail {
            verdict = .fail
        }
        verdicts[id] = verdict
        return verdict
    }

    /// Checks that the cases of `expected` are missed, none but these and `perhaps`, and that enough are passed, whose
    /// numbers are printed for the table in the guide.
    func expect(
        _ name: String, missing expected: Set<String>, perhaps: Set<String> = [], required: Int,
        optimal: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func passed(_ kind: PreparedCase.Kind) -> Int {
            cases.values.count { $0.kind == kind && verdicts[$0.id] == .pass }
        }
        print("\(name): required \(passed(.required)), optimal \(passed(.optimal))")
        let missed = Set(
            cases.values.filter { $0.kind != .check && verdicts[$0.id] == .fail }.map(\.id))
        let unexpected = missed.subtracting(expected.union(perhaps)).sorted()
            .map { "\($0): \(failures[$0]?.what ?? "what it depends on")" }
        #expect(unexpected == [], sourceLocation: sourceLocation)
        #expect(missed.isSuperset(of: expected), sourceLocation: sourceLocation)
        #expect(passed(.required) >= required, sourceLocation: sourceLocation)
        #expect(passed(.optimal) >= optimal, sourceLocation: sourceLocation)
    }
}
