import Foundation
import Halcyon
import HalcyonWork

/// The pictures of a watched folder, each with a place of its own among the outputs.
struct WatchedSources {
    private struct Version: Equatable {
        let file: FileIdentity
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: FilePath) {
            guard let file = FileIdentity(path), let status = try? path.status(),
                status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            self.file = file
            size = Int(status.st_size)
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    let folder: FilePath
    let allowsPDF: Bool
    let writer: OutputWriter
    private var known: [FilePath: (place: Int, version: Version)] = [:]
    private var failed: Set<FilePath> = []

    init(_ folder: FilePath, allowsPDF: Bool, writer: OutputWriter) {
        self.folder = folder
        self.allowsPDF = allowsPDF
        self.writer = writer
    }

    /// Returns those of `files` that are pictures and were not returned as they are now. Blocks.
    ///
    /// Files that were removed meanwhile, and the outputs of this run, are left out. Each failure is returned once.
    mutating func changed(_ files: [FolderWatch.Find]) -> [(source: ImageArgument, place: Int)] {
        files.compactMap { find in
            let file: FilePath
            switch find {
            case .success(let path): file = path
            case .failure(let failure):
                // What is not loaded needs no place.
                let isNew = failed.insert(failure.path).inserted
                return isNew ? (ImageArgument(failure), 0) : nil
            }
            guard let version = Version(file), known[file]?.version != version,
                !writer.files.hasMade(file, following: true),
                SourceArguments.isPicture(file, allowsPDF: allowsPDF)
            else { return nil }
            let source = ImageArgument(file: file, below: folder)
            let place = known[file]?.place ?? writer.add(source)
            known[file] = (place, version)
            return (source, place)
        }
    }
}
