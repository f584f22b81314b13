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

/// The required and optimal cases that are not passed, by the reason.
enum Missed {
    /// Parts are never stored: a picture needs its whole.
    static let storedParts: Set = [
        "partial-store-partial-complete", "partial-store-partial-reuse-partial",
        "partial-store-partial-reuse-partial-absent",
        "partial-store-partial-reuse-partial-byterange",
        "partial-store-partial-reuse-partial-suffix",
    ]

    /// A request for a range is the program's own affair; the answer is not cut from the cache.
    static let ranges = storedParts.union([
        "partial-store-complete-reuse-partial", "partial-store-complete-reuse-partial-no-last",
        "partial-store-complete-reuse-partial-suffix",
        // These two are required; they depend on the ones above.
        "partial-use-headers", "partial-use-stored-headers",
    ])

    /// The answer to a `POST` is not stored, and of variants in several languages none is chosen
    /// by the quality that a request gives them.
    static let choices: Set = ["method-POST", "vary-normalise-lang-select"]

    /// It wants a 304 to a date before the stored response's `Date`, which has no `Last-Modified`:
    /// it may have changed since (RFC 9111, section 4.3.2).
    static let conditionWithoutDate: Set = ["conditional-lm-fresh-no-lm"]
}
