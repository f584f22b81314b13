import Foundation

/// The files in some folders and the folders below them, hidden ones left out.
struct FoundFiles: Sendable {
    /// Each file once, in the order of the arguments and by name. They begin as the arguments were written.
    private(set) var paths: [String] = []
    /// A line for each file or folder that cannot be looked into.
    private(set) var failures: [String] = []

    private var seen: Set<String> = []

    /// - Parameter arguments: Folders and files.
    init(in arguments: [String]) {
        for argument in arguments {
            var isDirectory: ObjCBool = false
            if !FileManager.default.fileExists(atPath: argument, isDirectory: &isDirectory) {
                failures.append("“\(argument.printable)” is not there")
            } else if isDirectory.boolValue {
                for path in regularFiles(below: argument) { add(path) }
            } else {
                add(argument)
            }
        }
    }

    private mutating func add(_ path: String) {
        let standardized = URL(fileURLWithPath: path).standardizedFileURL.path
        if seen.insert(standardized).inserted { paths.append(path) }
    }

    /// Symbolic links are not followed.
    private mutating func regularFiles(below folder: String) -> [String] {
        let keys: Set<URLResourceKey> = [.isRegularFileKey]
        let root = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL
        let rootLength = root.pathComponents.count
        func written(_ url: URL) -> String {
            url.standardizedFileURL.pathComponents.dropFirst(rootLength).reduce(folder) {
                ($0 as NSString).appendingPathComponent($1)
            }
        }
        var unreadable: [String] = []
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: Array(keys), options: .skipsHiddenFiles
        ) { url, error in
            unreadable.append("\(written(url).printable): \(ErrorText.of(error).printable)")
            return true
        }
        var found: [String] = []
        while let file = files?.nextObject() as? URL {
            do {
                guard try file.resourceValues(forKeys: keys).isRegularFile == true else { continue }
                found.append(written(file))
            } catch {
                unreadable.append("\(written(file).printable): \(ErrorText.of(error).printable)")
            }
        }
        failures += unreadable
        return found.sorted()
    }
}
