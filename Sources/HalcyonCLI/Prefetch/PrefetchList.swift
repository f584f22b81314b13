import Foundation
import HalcyonWork

/// The sources in a text: one per line, without blank lines and comments.
struct PrefetchList: Sendable {
    let arguments: [ImageArgument]

    /// - Throws: `NoText`, and `BadLine` for the first line that is neither an `http` or `https` URL nor
    ///   a file.
    init(_ data: Data) throws {
        guard String(validating: data, as: UTF8.self) != nil else { throw NoText() }
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        arguments = try lines.enumerated().compactMap { index, line in
            let text = String(decoding: line, as: UTF8.self)
                // Some programs put a byte order mark at the beginning of a file.
                .trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
            if text.isEmpty || text.hasPrefix("#") { return nil }
            return try Self.argument(text, line: index + 1)
        }
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
