import ArgumentParser

/// `halcyon duplicates`: finds pictures that show the same.
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

    @Argument(help: ArgumentHelp("Folders, or pictures.", valueName: "folder"))
    var folders: [String]

    @Option(
        help: ArgumentHelp(
            "How many of 64 bits of the hashes may differ, 0 to 32; more finds more.",
            valueName: "bits"))
    var distance = 8

    @Option(
        help: ArgumentHelp("Draw the groups on a contact sheet, a PNG file.", valueName: "file"))
    var sheet: String?

    @Flag(help: "Print one JSON object per group, and one with the sums.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress and no sums.")
    var quiet = false

    func validate() throws {
        guard (0...32).contains(distance) else {
            throw ValidationError("--distance must be from 0 to 32, not \(distance).")
        }
        if folders.contains("") { throw ValidationError("The name of a folder is empty.") }
        if sheet?.isEmpty == true { throw ValidationError("The name of the sheet is empty.") }
    }

    func run() async throws {
        let request = DuplicatesRequest(
            folders: folders, distance: distance, sheet: sheet, isJSON: json, isQuiet: quiet)
        try await CommandRunner.countFailures(quiet: quiet, request.run)
    }
}
