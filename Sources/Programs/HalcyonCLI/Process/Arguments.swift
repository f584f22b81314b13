import ArgumentParser

extension ArgumentHelp {
    /// The help of an option with a value called `name`.
    static func value(_ name: String, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}

/// - Throws: `ValidationError` for a value of the option `name` that is not `expected`.
func check<Value>(
    _ name: String, _ value: Value?, _ expected: String, where isAllowed: (Value) -> Bool
) throws(ValidationError) {
    guard let value, !isAllowed(value) else { return }
    throw ValidationError("\(name) must be \(expected), not \(value).")
}

/// - Throws: `ValidationError` when `jobs` cannot be the number of sources that are loaded at a time.
func check(jobs: Int) throws(ValidationError) {
    // More would only wait for each other.
    try check("--jobs", jobs, "from 1 to 64") { (1...64).contains($0) }
}
