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

/// Gives each source a file name (without extension) of its own in one folder.
///
/// A name holds letters, digits, `-`, `_` and `.` only, does not begin with a dot, and differs from
/// all others given before by more than case.
struct OutputNames {
    private var taken: Set<String> = []

    /// The name for a source whose own name is `wish`: itself when it is safe and free.
    mutating func next(for wish: String) -> String {
        let base = Self.safe(wish)
        var name = base
        var number = 1
        while !taken.insert(name.lowercased()).inserted {
            number += 1
            name = "\(base)-\(number)"
        }
        return name
    }

    /// `wish` with everything replaced that might mean something to a shell or file system.
    static func safe(_ wish: String) -> String {
        var name = ""
        var length = 0
        for character in wish {
            let isAllowed =
                character.isLetter || character.isNumber || character == "_" || character == "."
            let next = isAllowed ? String(character) : "-"
            if next == "-" && name.hasSuffix("-") { continue }
            // File systems allow 255 bytes, of which a number and the extension need some.
            guard length + next.utf8.count <= 120 else { break }
            length += next.utf8.count
            name += next
        }
        let trimmed = name.drop { $0 == "." || $0 == "-" }
        let end = trimmed.lastIndex { $0 != "." && $0 != "-" }
        return end.map { String(trimmed[...$0]) } ?? "image"
    }
}
