package import Testing

/// The verdicts for a set of prepared cases.
package struct PreparedOutcome: Sendable {
    private enum Verdict {
        case pass, fail
    }

    private var verdicts: [String: Verdict] = [:]
    private var cases: [String: PreparedCase] = [:]
    private var failures: [String: FailedCheck] = [:]

    /// Judges what `play` finds of each case, one after the other.
    package init(
        of tests: [PreparedCase], playedBy play: (PreparedCase) async -> FailedCheck?
    ) async {
        for test in tests {
            cases[test.id] = test
            failures[test.id] = await play(test)
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

    /// Checks that the required and optimal cases of `expected` are missed and no others, and that enough are passed,
    /// whose numbers are printed for the table of the figures.
    package func expect(
        _ name: String, missing expected: Set<String>, required: Int, optimal: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func passed(_ kind: PreparedCase.Kind) -> Int {
            cases.values.count { $0.kind == kind && verdicts[$0.id] == .pass }
        }
        print("\(name): required \(passed(.required)), optimal \(passed(.optimal))")
        let missed = Set(
            cases.values.filter { $0.kind != .check && verdicts[$0.id] == .fail }.map(\.id))
        let unexpected = missed.subtracting(expected).sorted()
            .map { "\($0): \(failures[$0]?.what ?? "what it depends on")" }
        #expect(unexpected == [], sourceLocation: sourceLocation)
        #expect(expected.subtracting(missed).sorted() == [], sourceLocation: sourceLocation)
        #expect(passed(.required) >= required, sourceLocation: sourceLocation)
        #expect(passed(.optimal) >= optimal, sourceLocation: sourceLocation)
    }
}
