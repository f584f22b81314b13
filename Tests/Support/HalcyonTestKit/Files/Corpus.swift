public import Foundation

/// Real images beside the package, which tests use when they are there.
public enum Corpus {
    /// The directory named by `HALCYON_CORPUS`, else `../shared/corpus` seen from the package;
    /// `nil` when there is no such directory.
    public static let directory: URL? = {
        let named = ProcessInfo.processInfo.environment["HALCYON_CORPUS"]
        let directory =
            named.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? packageDirectory.deletingLastPathComponent().appendingPathComponent("shared/corpus")
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(
            atPath: directory.path, isDirectory: &isDirectory)
        return exists && isDirectory.boolValue ? directory : nil
    }()

    /// A file of the corpus by its path in it, `nil` when it is absent.
    public static func file(_ path: String) -> URL? {
        guard let file = directory?.appendingPathComponent(path),
            FileManager.default.fileExists(atPath: file.path)
        else { return nil }
        return file
    }

    /// The regular files in a folder of the corpus and below, by path; empty when it is absent.
    public static func files(in folder: String) -> [URL] {
        guard let folder = directory?.appendingPathComponent(folder),
            let walk = FileManager.default.enumerator(
                at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        else { return [] }
        return
            walk
            .compactMap { $0 as? URL }
            // A file that cannot be asked what it is cannot be read by a test either.
            .filter { file in
                let values = try? file.resourceValues(forKeys: [.isRegularFileKey])
                return values?.isRegularFile == true
            }
            .sorted { $0.path < $1.path }
    }

    /// The root of the package this source belongs to.
    static let packageDirectory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // Files
        .deletingLastPathComponent()  // HalcyonTestKit
        .deletingLastPathComponent()  // Support
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()
}

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
