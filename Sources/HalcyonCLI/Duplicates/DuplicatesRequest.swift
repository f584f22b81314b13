import Foundation
import Halcyon
import HalcyonWork

/// What `halcyon duplicates` was asked to do, checked.
struct DuplicatesRequest: Sendable {
    let folders: [String]
    let distance: Int
    let sheet: String?
    let isJSON: Bool
    let isQuiet: Bool

    /// Reads all pictures and prints the groups; returns how many pictures could not be read.
    func run(console: Console) async throws -> Int {
        let paths = try await BlockingWork.run { [folders] in try Self.files(in: folders) }
        let (pictures, failures) = try await read(paths, console)
        let groups = PictureGroup.groups(of: pictures, distance: distance)
        if isJSON {
            for group in groups { console.print(group.json.text) }
            console.print(
                JSONObject([
                    "groups": .init(groups.count), "duplicates": .init(Self.copies(in: groups)),
                    "pictures": .init(pictures.count), "failed": .init(failures),
                ]).text)
        } else {
            for (index, group) in groups.enumerated() {
                if index > 0 { console.print("") }
                for line in group.lines { console.print(line) }
            }
            if !isQuiet { console.note(Self.summary(groups, of: pictures.count)) }
        }
        if let sheet, !groups.isEmpty {
            try await draw(groups, to: sheet)
            if !isQuiet { console.note("sheet: \(sheet.printable)") }
        }
        return failures
    }

    /// The files to look at, each once, in the order of the arguments and by name.
    private static func files(in folders: [String]) throws -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        for folder in folders {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) else {
                throw MissingFolder(path: folder)
            }
            let found = isDirectory.boolValue ? try regularFiles(below: folder) : [folder]
            for path in found where seen.insert(standardized(path)).inserted {
                files.append(path)
            }
        }
        return files
    }

    private static func standardized(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Their paths begin as `folder` was written. Symbolic links are not followed.
    private static func regularFiles(below folder: String) throws -> [String] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        let root = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL
        let rootLength = root.pathComponents.count
        var failure: (any Error)?
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: keys, options: .skipsHiddenFiles
        ) { _, error in
            failure = error
            return false
        }
        var paths: [String] = []
        while let file = files?.nextObject() as? URL {
            guard try file.resourceValues(forKeys: Set(keys)).isRegularFile == true else {
                continue
            }
            let inside = file.standardizedFileURL.pathComponents.dropFirst(rootLength)
            paths.append(inside.reduce(folder) { ($0 as NSString).appendingPathComponent($1) })
        }
        if let failure { throw failure }
        return paths.sorted()
    }

    private struct MissingFolder: Error, CustomStringConvertible {
        let path: String

        var description: String { "“\(path.printable)” is not there." }
    }

    /// Some at a time, as many as there are cores and one more, which reads meanwhile.
    private func read(
        _ paths: [String], _ console: Console
    ) async throws -> (pictures: [FoundPicture], failures: Int) {
        console.beginProgress(ProgressBoard(sourceCount: paths.count, showsTotalBar: true))
        let width = Processors.count + 1
        return try await withThrowingTaskGroup(
            of: (Int, Result<FoundPicture?, any Error>).self
        ) { group in
            var results = [Int: FoundPicture]()
            var failures = 0
            var next = 0
            func addNext() {
                guard next < paths.count else { return }
                let (index, path) = (next, paths[next])
                next += 1
                group.addTask {
                    do {
                        return (index, .success(try await FoundPicture.reading(path)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<width { addNext() }
            while let (index, result) = try await group.next() {
                try Task.checkCancellation()
                switch result {
                case .success(let picture):
                    results[index] = picture
                case .failure(let error):
                    failures += 1
                    console.note("\(paths[index].printable): \(ErrorText.of(error).printable)")
                }
                let isFailed = if case .failure = result { true } else { false }
                console.progress { $0.finish(failed: isFailed) }
                addNext()
            }
            return (paths.indices.compactMap { results[$0] }, failures)
        }
    }

    private static func copies(in groups: [PictureGroup]) -> Int {
        groups.reduce(0) { $0 + $1.pictures.count - 1 }
    }

    private static func summary(_ groups: [PictureGroup], of count: Int) -> String {
        func number(_ count: Int, _ noun: String) -> String {
            "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        guard !groups.isEmpty else { return "no duplicates among \(number(count, "picture"))" }
        return "\(number(copies(in: groups), "duplicate")) in \(number(groups.count, "group")), "
            + "of \(number(count, "picture"))"
    }

    private func draw(_ groups: [PictureGroup], to path: String) async throws {
        let subtitle = Self.summary(groups, of: groups.reduce(0) { $0 + $1.pictures.count })
        try await BlockingWork.run {
            let sections = try groups.enumerated().map { index, group in
                ContactSheet.Section(
                    title: "Group \(index + 1)", try group.pictures.map { try group.tile(of: $0) })
            }
            let sheet = ContactSheet(
                title: "Duplicates", subtitle: subtitle, sections: sections,
                columns: min(6, max(3, groups.map(\.pictures.count).max() ?? 3)))
            try PendingFile.write(try sheet.png(), to: path)
        }
    }
}

extension PictureGroup {
    fileprivate var json: JSONObject {
        let members = pictures.map { picture in
            JSONObject([
                "path": .string(picture.path), "width": .init(picture.size.width),
                "height": .init(picture.size.height), "format": .string(picture.format.rawValue),
                "bytes": .init(picture.byteCount), "pHash": .string(picture.hash.description),
                "distance": .init(distance(of: picture)),
            ])
        }
        return JSONObject(["pictures": .array(members.map { .object($0) })])
    }

    fileprivate var lines: [String] {
        pictures.map { picture in
            let extent = "\(picture.size.width)×\(picture.size.height)"
            return "\(picture.path.printable)  \(extent) \(picture.format.rawValue)"
        }
    }

    /// Decodes the picture at about the size of the tile.
    fileprivate func tile(of picture: FoundPicture) throws -> ContactSheet.Tile {
        let data = try Data(
            contentsOf: URL(fileURLWithPath: picture.path), options: .mappedIfSafe)
        return ContactSheet.Tile(
            image: try Image.decoding(data),
            label: [
                (picture.path as NSString).lastPathComponent.printable,
                "\(picture.size.width)×\(picture.size.height) \(picture.format.rawValue)",
                "distance \(distance(of: picture))",
            ])
    }
}
