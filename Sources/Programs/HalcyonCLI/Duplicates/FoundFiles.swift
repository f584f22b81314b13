import Foundation
import HalcyonWork

/// The files in some folders and the folders below them, hidden ones left out.
struct FoundFiles: Sendable {
    /// Each file once, in the order of the arguments and by name. They begin as the arguments were written.
    private(set) var paths: [FilePath] = []
    /// A line for each file or folder that cannot be looked into.
    private(set) var failures: [String] = []

    private var seen: Set<URL> = []

    init(in arguments: [String]) {
        for argument in arguments {
            guard let path = FilePath(argument: argument) else {
                failures.append("“\(argument.printable)” is not there")
                continue
            }
            do {
                guard try path.status().st_mode & S_IFMT == S_IFDIR else {
                    add(path)
                    continue
                }
                let listing = FolderListing(below: path, includesLinks: false)
                for file in listing.files { add(file) }
                failures += listing.failures.map(\.description.printable)
            } catch {
                failures.append(error.description.printable)
            }
        }
    }

    private mutating func add(_ path: FilePath) {
        if seen.insert(path.url.standardizedFileURL).inserted { paths.append(path) }
    }
}
