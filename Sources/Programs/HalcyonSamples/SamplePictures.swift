public import Foundation

/// The pictures that come with Halcyon's programs.
public struct SamplePictures: Sendable {
    /// Why there are none.
    public struct Missing: Error, CustomStringConvertible {
        public var description: String {
            "The sample pictures are not beside the program (halcyon_HalcyonSamples.resources)."
        }
    }

    /// The folder with the pictures.
    public let directory: URL
    /// File names in alphabetical order.
    public let names: [String]

    /// Finds the pictures beside the program, where the build puts them.
    /// - Throws: `Missing`.
    public init() throws {
        guard let directory = Bundle.module.url(forResource: "Samples", withExtension: nil) else {
            throw Missing()
        }
        self.directory = directory
        names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { !$0.hasSuffix(".md") && !$0.hasPrefix(".") }
            .sorted()
        if names.isEmpty { throw Missing() }
    }

    /// The bytes of the picture called `name`.
    public func data(_ name: String) throws -> Data {
        try Data(contentsOf: directory.appendingPathComponent(name))
    }
}
