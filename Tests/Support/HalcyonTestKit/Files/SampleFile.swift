public import Foundation

/// The files in `Tests/Samples`: written by other programs, and what other decoders make of them.
public enum SampleFile {
    /// The bytes of a file by its name.
    public static func data(_ name: String) throws -> Data {
        try Data(
            contentsOf: Corpus.packageDirectory.appendingPathComponent("Tests/Samples/\(name)"))
    }
}
