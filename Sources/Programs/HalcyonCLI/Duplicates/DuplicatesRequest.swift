import Foundation
import Halcyon
import HalcyonWork

/// The validated request of `halcyon duplicates`.
struct DuplicatesRequest: Sendable {
    let folders: [String]
    let distance: Int
    let sheet: String?
    let isJSON: Bool
    let isQuiet: Bool

    /// Reads all pictures and prints the groups; returns the number of unreadable files and
    /// folders.
    func run(_ console: Console) async throws -> Int {
        let found = try await BlockingWork.run { [folders] in FoundFiles(in: folders) }
        for failure in found.failures { console.note(failure) }
        let (pictures, unreadable) = try await read(found.paths, console)
        let failures = found.failures.count + unreadable
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

    /// Reads the pictures concurrently: one for each core, and one more that reads its file
    /// meanwhile.
    private func read(
        _ paths: [FilePath], _ console: Console
    ) async throws -> (pictures: [FoundPicture], failures: Int) {
        console.beginProgress(ProgressBoard(sourceCount: paths.count, showsTotalBar: true))
        let width = Processors.count + 1
        return try await withThrowingTaskGroup(
            of: Reading.self
        ) { group in
            var results = [Int: FoundPicture]()
            var failures = 0
            var next = 0
            func addNext() {
                guard next < paths.count else { return }
                let (index, path) = (next, paths[next])
                next += 1
                group.addTask { Reading(index: index, result: await FoundPicture.read(path)) }
            }
            for _ in 0..<width { addNext() }
            while let reading = try await group.next() {
                try Task.checkCancellation()
                var isFailed = false
                switch reading.result {
                case .success(let picture):
                    results[reading.index] = picture
                case .failure(let error):
                    isFailed = true
                    failures += 1
                    let path = paths[reading.index].description
                    let failure = LoadFailure(error, at: path)
                    console.note("\(path): \(failure.message)".printable)
                }
                console.progress { [isFailed] in $0.finish(failed: isFailed) }
                addNext()
            }
            return (paths.indices.compactMap { results[$0] }, failures)
        }
    }

    /// The outcome for one of the paths.
    ///
    /// Not a tuple made in the closure of the task: optimised code of Swift 6.3 loses the index of a tuple that
    /// leaves such a closure from a `do` or its `catch` (Tests/Compiler/task-tuple.swift).
    private struct Reading: Sendable {
        let index: Int
        let result: Result<FoundPicture?, any Error>
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
                "path": .string(picture.path.description), "width": .init(picture.size.width),
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
            return "\(picture.path.description.printable)  \(extent) \(picture.format.rawValue)"
        }
    }

    /// Decodes the picture for its tile.
    fileprivate func tile(of picture: FoundPicture) throws -> ContactSheet.Tile {
        let image: Image
        do {
            image = try Image.decoding(try picture.path.read())
        } catch {
            throw LoadFailure(error, at: picture.path.description)
        }
        return ContactSheet.Tile(
            image: image,
            label: [
                picture.path.name.printable,
                "\(picture.size.width)×\(picture.size.height) \(picture.format.rawValue)",
                "distance \(distance(of: picture))",
            ])
    }
}
