import Foundation
import Testing

@testable import HalcyonHTTP

/// The prepared cases against the policy, with an origin, a cache and a clock that are simulated.
@Suite("Prepared cases", .enabled(if: PreparedCases.areThere))
struct PreparedCasesTests {
    /// Dates in fields have whole seconds, the clock has not; that must make no difference.
    static let starts = [1_790_000_000, 1_790_000_000.9].map(Date.init(timeIntervalSince1970:))

    @Test(
        "A private cache passes all cases but those that ask for what a loader never does",
        arguments: starts)
    func privateRole(start: Date) throws {
        let outcome = try Outcome(of: PreparedCases.privateSet, .on, start: start)
        outcome.print("private role, as a client")
        #expect(outcome.missed == Missed.ranges.union(Missed.choices))
        #expect(outcome.passed == [.required: 135, .optimal: 67, .check: 57])
    }

    @Test(
        "A shared cache passes all cases but those of ranges, conditions and targeted fields",
        arguments: starts)
    func sharedRole(start: Date) throws {
        let outcome = try Outcome(of: PreparedCases.sharedSet, .shared, start: start)
        outcome.print("shared role without a targeted field, as a client")
        let missed = outcome.missed.filter { !$0.hasPrefix("cdn-") }
        #expect(missed == Missed.ranges.union(Missed.choices).union(Missed.conditions))
        #expect(outcome.passed == [.required: 146, .optimal: 79, .check: 58])
    }

    @Test("A shared cache that heeds CDN-Cache-Control passes its cases too", arguments: starts)
    func sharedRoleWithTargetedField(start: Date) throws {
        let outcome = try Outcome(of: PreparedCases.sharedSet, Self.targeted, start: start)
        outcome.print("shared role with a targeted field, as a client")
        #expect(outcome.missed == Missed.ranges.union(Missed.choices).union(Missed.conditions))
        #expect(outcome.passed == [.required: 156, .optimal: 86, .check: 63])
    }

    private static let targeted: HTTPCaching = {
        var caching = HTTPCaching.shared
        caching.targetedFields = ["CDN-Cache-Control"]
        return caching
    }()
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

    /// A request that the program made conditional goes to the server.
    static let conditions: Set = [
        "conditional-304-etag", "conditional-etag-precedence",  // required, by dependency
        "conditional-etag-strong-respond", "conditional-etag-strong-respond-multiple-first",
        "conditional-etag-strong-respond-multiple-last",
        "conditional-etag-strong-respond-multiple-second", "conditional-etag-weak-respond",
        "conditional-lm-fresh", "conditional-lm-fresh-earlier", "conditional-lm-fresh-no-lm",
        "conditional-lm-fresh-rfc850",
    ]

    /// It wants a 304 to a date before the stored response's `Date`, which has no `Last-Modified`:
    /// it may have changed since (RFC 9111, section 4.3.2).
    static let conditionWithoutDate: Set = ["conditional-lm-fresh-no-lm"]
}
