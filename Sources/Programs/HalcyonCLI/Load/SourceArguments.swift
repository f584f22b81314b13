import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

/// The sources of a command, as they are given.
struct SourceArguments: ParsableArguments {
    @Argument(
        help: .value(
            "source", "An http or https URL, a file, a data URI, or - for standard input."))
    var sources: [String]

    @Flag(
        name: .shortAndLong,
        help: "Take the pictures in folders and the folders in them, hidden ones left out.")
    var recursive = false

    func validate() throws {
        if sources.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("Standard input holds one source; give - once.")
        }
    }

    /// The sources with the pictures of folders one by one, and with what standard input holds.
    /// - Parameter output: A folder that is passed over where it is in another one: it holds what was made before.
    /// - Throws: `ValidationError` when standard input cannot be read.
    func read(
        allowsPDF: Bool = false, passingOver output: FilePath? = nil
    ) async throws -> [ImageArgument] {
        let input = sources.contains("-") ? try await InputFile.read("-") { $0 } : Data()
        return try await BlockingWork.run { [self] in
            sources.flatMap { text -> [ImageArgument] in
                if text == "-" { return [ImageArgument(standardInput: input)] }
                let argument = ImageArgument(text)
                guard recursive, argument.isFolder, let folder = argument.file else {
                    return [argument]
                }
                return Self.pictures(in: folder, allowsPDF, passingOver: output)
            }
        }
    }

    /// The files that are pictures, or are called so; links to folders are not followed.
    private static func pictures(
        in folder: FilePath, _ allowsPDF: Bool, passingOver output: FilePath?
    ) -> [ImageArgument] {
        let (root, other) = (folder.realComponents, output?.realComponents ?? [])
        let isInside = other.count > root.count && other.starts(with: root)
        let inside = other.dropFirst(root.count).map { $0[...] }
        return ImageArgument.files(in: folder, includesLinks: true) { file in
            let names = file.bytes.dropFirst(folder.bytes.count).split(separator: UInt8(ascii: "/"))
            if isInside, names.starts(with: inside) { return false }
            return isPicture(file, allowsPDF: allowsPDF)
        }
    }

    /// Whether a file is a picture, or is called so.
    static func isPicture(_ file: FilePath, allowsPDF: Bool) -> Bool {
        // What cannot be read is told of when it is loaded.
        let format = (try? file.read(atMost: 4096))?.kf.imageFormat ?? .unknown
        let named = ImageFormat(fileExtension: file.fileExtension)
        let expected = format == .unknown ? named : format
        return expected.map { $0 != .PDF || allowsPDF } ?? false
    }
}

/// A file that a command reads as a whole.
enum InputFile {
    /// Returns what `make` makes of the file, or of standard input where the name is `-`.
    /// - Throws: `ValidationError` when it cannot be read.
    static func read<Value>(
        _ name: String, _ make: (Data) throws -> Value
    ) async throws(ValidationError) -> Value {
        let path = name == "-" ? nil : FilePath(argument: name)
        do {
            let data = try await BlockingWork.run {
                guard let path else { return try FileHandle.standardInput.readToEnd() ?? Data() }
                return try path.read(includingStreams: true)
            }
            return try make(data)
        } catch {
            let place = path?.description ?? "standard input"
            let reason = (error as? FilePath.Failure)?.reason ?? ErrorText.of(error)
            throw ValidationError("\(place) cannot be read: \(reason)")
        }
    }
}
