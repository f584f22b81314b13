import ArgumentParser
import Foundation
import HalcyonWork

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

/// - Throws: `ValidationError` when the name of a file to write is empty, or that of a folder.
func check(
    fileFor purpose: String, _ name: String?, advice: String = "name a file in it"
) throws(ValidationError) {
    guard let name else { return }
    if name.isEmpty { throw ValidationError("The name of the \(purpose) is empty.") }
    if name.hasSuffix("/") || FilePath(argument: name)?.isFolder == true {
        throw ValidationError("\(name) is a folder; \(advice).")
    }
}

/// - Throws: `ValidationError` when `jobs` cannot be the number of sources that are loaded at a time.
func check(jobs: Int) throws(ValidationError) {
    // More would only wait for each other.
    try check("--jobs", jobs, "from 1 to 64") { (1...64).contains($0) }
}

extension FilePath {
    /// Whether there is a folder, perhaps behind a link. What cannot be looked at is none: it is told of when it
    /// is read or written.
    var isFolder: Bool { (try? status()).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
}
