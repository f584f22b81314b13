public import Foundation

/// The pictures that come with Halcyon's programs.
public struct SamplePictures: Sendable {
    /// Why there are none.
    public struct Missing: Error, CustomStringConvertible {
        public var description: String {
            """
            There are no sample pictures: neither beside the program (halcyon_HalcyonSamples.resources) \
            nor installed (share/halcyon/samples, in the package halcyon).
            """
        }
    }

    /// The folder with the pictures.
    public let directory: URL
    /// File names in alphabetical order.
    public let names: [String]

    /// Finds the pictures beside the program, where the build puts them, or in `../share/halcyon/samples`, where a
    /// package does.
    /// - Parameter folder: The folder of the program.
    /// - Throws: `Missing`.
    public init(program folder: URL = Bundle.main.bundleURL) throws {
        let places = [
            folder.appendingPathComponent("halcyon_HalcyonSamples.resources/Samples"),
            folder.deletingLastPathComponent().appendingPathComponent("share/halcyon/samples"),
        ]
        for place in places {
            // A folder that cannot be read has no pictures for us, like one that is not there.
            let files = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
            let names = files.filter { !$0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted()
            if names.isEmpty { continue }
            directory = place
            self.names = names
            return
        }
        throw Missing()
    }

    /// The bytes of the picture called `name`.
    public func data(_ name: String) throws -> Data {
        try Data(contentsOf: directory.appendingPathComponent(name))
    }
}
