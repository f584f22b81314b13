import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

struct DuplicatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "Find copies of pictures in other sizes, formats and qualities.",
        usage: "halcyon duplicates <folder> ... [<options>]",
        discussion: """
            Looks at all pictures in the folders and the folders in them, hidden ones left out, and \
            prints those that look the same in groups, the largest picture of each first. Files that \
            are no pictures are passed over.

            Pictures look the same when their perceptual hashes (pHash) are near each other, and their \
            proportions and average colours too. Nothing is changed or removed.

            EXAMPLES:
              halcyon duplicates Pictures
              halcyon duplicates Pictures Backup --sheet duplicates.png
              halcyon duplicates --json Pictures | jq -r '.pictures[1:][].path'

            JSON: one object per group and line:
              pictures      path, width, height, format, bytes, pHash, and distance: the
                            number of bits that differ from the first picture's hash
            and at the end
              groups, duplicates, pictures, failed

            EXIT CODES: 0 all pictures were read, 1 some were not, 64 bad usage, 130 stopped by Ctrl-C.
            """)

    @Argument(help: .value("folder", "Folders, or pictures."))
    var folders: [String]

    @Option(
        help: .value(
            "bits", "How many of 64 bits of the hashes may differ, 0 to 32; more finds more."))
    var distance = 8

    @Option(help: .value("file", "Draw the groups on a contact sheet, a PNG file."))
    var sheet: String?

    @Flag(help: "Print one JSON object per group, and one with the sums.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress and no sums.")
    var quiet = false

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    func validate() throws {
        try check("--distance", distance, "from 0 to 32") { (0...32).contains($0) }
        if folders.contains("") { throw ValidationError("The name of a folder is empty.") }
        try check(fileFor: "sheet", sheet)
    }

    func run() async throws {
        try await CommandRunner.countFailures(quiet: quiet, find)
    }
}

extension DuplicatesCommand {
    /// Prints the groups; returns the number of unreadable files and folders.
    private func find(_ console: Console) async throws -> Int {
        let (pictures, failures) = try await read(console)
        let groups = PictureGroup.groups(of: pictures, distance: distance)
        if json {
            console.print(groups.map(\.json.jsonText))
            let sums = JSONObject([
                "groups": groups.count, "duplicates": Self.copies(in: groups),
                "pictures": pictures.count, "failed": failures,
            ])
            console.print(sums.jsonText)
        } else {
            for (index, group) in groups.enumerated() {
                if index > 0 { console.print("") }
                console.print(group.lines)
            }
            if !quiet { console.note(Self.summary(groups, of: pictures.count)) }
        }
        if let sheet, !groups.isEmpty {
            try await draw(groups, to: sheet)
            if !quiet { console.note("sheet: \(sheet.printable)") }
        }
        return failures
    }

    private func read(_ console: Console) async throws -> ([FoundPicture], failures: Int) {
        // One for each core, and one more whose file is read meanwhile.
        let batch = LoadBatch(
            arguments: try await BlockingWork.run { [folders] in Self.files(in: folders) },
            jobs: Processors.count + 1, console: console, showsSources: false)
        var pictures: [FoundPicture] = []
        var failures = 0
        await batch.run {
            await FoundPicture.read($0.argument)
        } report: { result in
            switch result {
            case .success(let picture): pictures += picture.map { [$0] } ?? []
            case .failure(let failure):
                failures += 1
                console.note(failure.message.printable)
            }
        }
        try Task.checkCancellation()
        return (pictures, failures)
    }

    /// The files in some folders and the folders below them, each once, in the order of the arguments and by name.
    private static func files(in names: [String]) -> [ImageArgument] {
        let arguments = names.flatMap { name -> [ImageArgument] in
            guard let path = FilePath(argument: name) else { return [] }
            let argument = ImageArgument(file: path)
            return argument.isFolder
                ? ImageArgument.files(in: path, includesLinks: false) : [argument]
        }
        var seen: Set<URL> = []
        return arguments.filter { argument in
            argument.file.map { seen.insert($0.url.standardizedFileURL).inserted } ?? true
        }
    }

    private static func copies(in groups: [PictureGroup]) -> Int {
        groups.reduce(0) { $0 + $1.pictures.count - 1 }
    }

    private static func summary(_ groups: [PictureGroup], of count: Int) -> String {
        let pictures = Quantity.count(count, "picture")
        guard !groups.isEmpty else { return "no duplicates among \(pictures)" }
        let duplicates = Quantity.count(copies(in: groups), "duplicate")
        return "\(duplicates) in \(Quantity.count(groups.count, "group")), of \(pictures)"
    }

    private func draw(_ groups: [PictureGroup], to path: String) async throws {
        let subtitle = Self.summary(groups, of: groups.reduce(0) { $0 + $1.pictures.count })
        try await BlockingWork.run {
            let sections = try groups.enumerated().map { index, group in
                ContactSheet.Section(
                    title: "Group \(index + 1)",
                    tiles: try group.pictures.map { try group.tile(of: $0) })
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
                "path": picture.path.description, "width": picture.size.width,
                "height": picture.size.height, "format": picture.format.rawValue,
                "bytes": picture.byteCount, "pHash": picture.hash.description,
                "distance": distance(of: picture),
            ])
        }
        return JSONObject(["pictures": members])
    }

    fileprivate var lines: [String] {
        pictures.map { picture in
            let extent = "\(picture.size.width)×\(picture.size.height)"
            return "\(picture.path.description.printable)  \(extent) \(picture.format.rawValue)"
        }
    }

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
