import Glibc

/// The names of files that are being written.
enum TemporaryFile {
    private static let prefix = ".tmp-"

    /// A name that no other thread or process uses.
    static func newName() -> String {
        "\(prefix)\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Whether a file of this name was being written.
    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
