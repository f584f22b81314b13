import Foundation
import HalcyonWork

/// The sources in a text: one per line, without blank lines and comments.
struct PrefetchList: Sendable {
    let arguments: [ImageArgument]

    /// - Throws: `NoText`, and `BadLine` for the first line that is neither an `http` or `https` URL nor
    ///   a file.
    init(_ data: Data) throws {
        guard String(validating: data, as: UTF8.self) != nil else { throw NoText() }
        // Some programs put a byte order mark at the beginning of a file.
        let blanks = CharacterSet.whitespacesAndNewlines.union(["\u{FEFF}"])
        var arguments: [ImageArgument] = []
        var number = 0
        var rest = data[...]
        // Line by line, so that a long list is not in memory once more.
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let text = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: blanks)
            number += 1
            rest = rest[end...].dropFirst()
            if text.isEmpty || text.hasPrefix("#") { continue }
            arguments.append(try Self.argument(text, line: number))
        }
        self.arguments = arguments
    }

    /// The bytes are no text: a picture was given in place of a list, perhaps.
    struct NoText: Error, Equatable, CustomStringConvertible {
        var description: String { "it is no list of sources, but something else than text" }
    }

    /// A line that is no source.
    struct BadLine: Error, Equatable, CustomStringConvertible {
        /// Counted from 1.
        let number: Int
        let problem: String

        var description: String { "line \(number): \(problem)" }
    }

    private static func argument(_ text: String, line: Int) throws -> ImageArgument {
        if DataURI.isScheme(of: text) {
            throw BadLine(
                number: line, problem: "A data URI holds its image and needs no prefetching.")
        }
        let argument = ImageArgument(text)
        if case .failure(let failure) = argument.source {
            throw BadLine(number: line, problem: failure.message.printable)
        }
        return argument
    }
}
