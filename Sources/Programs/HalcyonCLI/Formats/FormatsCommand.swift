import ArgumentParser
import Halcyon
import Vips

struct FormatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List the formats that can be read and written on this machine.",
        discussion: """
            Tells what the installed libraries can do, and their versions. PDF is read only where it is allowed \
            (halcyon load --allow-pdf).
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let json = json
        try await CommandRunner.run { console in
            let formats = try await BlockingWork.run { FormatSupport.all() }
            if json {
                var object = JSONObject()
                for (name, version) in Self.libraries { object.add(name, .string(version)) }
                object.add("formats", .array(formats.map { .object($0.json) }))
                console.print(object.text)
                return
            }
            var table = Table(
                .init(title: "format"), .init(title: "read"), .init(title: "write"),
                .init(title: "read animated"), .init(title: "write animated"))
            for format in formats { table.add(format.row) }
            for line in table.lines { console.print(line) }
            console.print("")
            for (name, version) in Self.libraries { console.print("\(name) \(version)") }
        }
    }

    /// The libraries that read, and their versions.
    private static var libraries: [(name: String, version: String)] {
        [("libvips", Vips.version)]
            + CodecLibrary.installed.map { (name: $0.name, version: $0.version) }
    }
}
