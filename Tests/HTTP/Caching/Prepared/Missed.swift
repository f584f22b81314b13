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
