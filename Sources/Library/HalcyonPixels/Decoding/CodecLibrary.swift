import DirectCodecs

/// A library that reads one format, loaded when the first file needs it.
package struct CodecLibrary: Sendable {
    package let name: String
    package let version: String

    /// Those that are on this machine.
    package static var installed: [CodecLibrary] {
        [("libavif", AVIFFile.libraryVersion), ("libjxl", JPEGXLFile.libraryVersion)]
            .compactMap { name, version in version.map { CodecLibrary(name: name, version: $0) } }
    }
}
