public import Foundation

/// The files in `Tests/Samples`: written by other programs, and what other decoders make of them; in `EarlierState`,
/// written by earlier versions of our own programs.
public enum SampleFile {
    /// The place of a file or a folder by its path in there.
    public static func url(_ path: String) -> URL {
        Corpus.packageDirectory.appending(path: "Tests/Samples/\(path)")
    }

    /// The bytes of a file by its name.
    public static func data(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }
}
