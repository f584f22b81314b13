import Foundation

/// The pictures that come with the program.
struct DemoSamples {
    /// Why there are none.
    struct Missing: Error, CustomStringConvertible {
        var description: String {
            "The sample pictures are not beside the program (halcyon_HalcyonCLI.resources)."
        }
    }

    let directory: URL
    /// File names in alphabetical order.
    let names: [String]

    /// Finds the pictures beside the program, where the build puts them.
    init() throws {
        guard let directory = Bundle.module.url(forResource: "Samples", withExtension: nil) else {
            throw Missing()
        }
        self.directory = directory
        names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { !$0.hasSuffix(".md") && !$0.hasPrefix(".") }
            .sorted()
        if names.isEmpty { throw Missing() }
    }

    func data(_ name: String) throws -> Data {
        try Data(contentsOf: directory.appendingPathComponent(name))
    }
}
