import Foundation

/// The verdicts for a set of prepared cases.
struct Outcome {
    private enum Verdict {
        case pass, fail
    }

    private var verdicts: [String: Verdict] = [:]
    private var cases: [String: PreparedCase] = [:]
    private var failures: [String: FailedCheck] = [:]

    /// Judges what `play` found of each case.
    init(of tests: [PreparedCase], playedBy play: (PreparedCase) -> FailedCheck?) {
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

    /// How many are passed.
    var passed: [PreparedCase.Kind: Int] {
        let passed = cases.values.filter { verdicts[$0.id] == .pass }
        return Dictionary(grouping: passed, by: \.kind).mapValues(\.count)
    }

    /// Prints how many of those are passed that count, for the table in the guide.
    func print(_ name: String) {
        let passed = passed
        Swift.print(
            "\(name): required \(passed[.required, default: 0]), "
                + "optimal \(passed[.optimal, default: 0])")
    }

    /// The required and optimal cases that are not passed.
    var missed: Set<String> {
        Set(cases.values.filter { $0.kind != .check && verdicts[$0.id] == .fail }.map(\.id))
    }

    /// The required and optimal cases that are not passed apart from `expected` ones, each with the check
    /// that failed.
    func missed(except expected: Set<String>) -> [String] {
        missed.subtracting(expected).sorted()
            .map { "\($0): \(failures[$0]?.what ?? "what it depends on")" }
    }
}
