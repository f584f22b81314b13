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

/// Numbers of bytes with the decimal units k and M.
enum ByteCount {
    /// - Throws: `ValidationError`.
    @Sendable static func parse(_ text: String) throws -> Int {
        let units = ["": 1.0, "k": 1e3, "m": 1e6]
        let form = /([0-9]{1,12}(?:\.[0-9]{1,12})?)([km]?)/
        guard let match = text.lowercased().wholeMatch(of: form),
            let number = Double(match.1), let unit = units[String(match.2)], number * unit >= 1
        else {
            throw ValidationError("“\(text)” is no number of bytes, such as 90000, 200k or 1.5M.")
        }
        return Int(number * unit)
    }
}

extension FilePath {
    /// Whether there is a folder, perhaps behind a link. What cannot be looked at is none: it is told of when it
    /// is read or written.
    var isFolder: Bool { (try? status()).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
}
