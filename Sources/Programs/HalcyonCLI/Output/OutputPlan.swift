import Halcyon
import HalcyonWork

/// Where pictures are written, in which format, and how.
struct OutputPlan: Sendable {
    enum Destination: Sendable {
        case nowhere
        case standardOutput
        case file(FilePath)
        case directory(FilePath, OutputNames)
        /// The files of the sources themselves, each in the format that it has.
        case inPlace([FilePath?])
    }

    let destination: Destination
    /// The format asked for by an option or a name.
    let format: ImageFormat?
    /// 0…1; `nil` when it was not asked for.
    let quality: Double?
    /// The target of a search for the quality.
    var target: CompressionTarget?
    let isLossless: Bool
    let keepsMetadata: Bool
    /// The treatment of existing files; by default they are errors.
    let existing: ExistingFiles?

    static let nowhere = OutputPlan(
        destination: .nowhere, format: nil, quality: nil, isLossless: false,
        keepsMetadata: false, existing: nil)

    /// The format to write for a source whose bytes are of the format `source`.
    func format(for source: ImageFormat) -> ImageFormat {
        if case .inPlace = destination { return source }
        return format ?? source.orWritable
    }

    /// The file to write for the source at `index`; `nil` for none, or when it depends on a format that is not known.
    func path(for index: Int, in format: ImageFormat?) -> FilePath? {
        switch destination {
        case .nowhere, .standardOutput: nil
        case .file(let path): path
        case .directory(let folder, let names):
            format.map { folder.appending(names.path(for: index, in: $0)) }
        case .inPlace(let files): files[index]
        }
    }
}
