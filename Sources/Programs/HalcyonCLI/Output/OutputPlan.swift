import Foundation
import Halcyon

/// Where pictures are written, in which format, and how.
struct OutputPlan: Sendable {
    enum Destination: Equatable, Sendable {
        case nowhere
        case file(String)
        /// A folder, and the names (without extension) of the sources' files in it.
        case directory(String, names: [String])
    }

    let destination: Destination
    /// The format asked for, whatever the names say.
    let format: ImageFormat?
    /// 0…1; `nil` when it was not asked for.
    let quality: Double?
    let keepsMetadata: Bool

    static let nowhere = OutputPlan(
        destination: .nowhere, format: nil, quality: nil, keepsMetadata: false)

    struct Target: Equatable, Sendable {
        let path: String
        let format: ImageFormat
    }

    /// The file to write for the source at `index`, whose bytes were of the format `source`.
    func target(for index: Int, source: ImageFormat) -> Target? {
        switch destination {
        case .nowhere:
            return nil
        case .file(let path):
            let named = ImageFormat(fileExtension: URL(fileURLWithPath: path).pathExtension)
            let format = format ?? named ?? Self.fallback(source)
            return Target(path: path, format: format)
        case .directory(let folder, let names):
            let format = format ?? Self.fallback(source)
            let name = "\(names[index]).\(format.fileExtension)"
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            return Target(path: path, format: format)
        }
    }

    private static func fallback(_ source: ImageFormat) -> ImageFormat {
        ImageFormat.writable.contains(source) ? source : .PNG
    }
}
