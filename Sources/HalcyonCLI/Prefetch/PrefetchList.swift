import Foundation
import HalcyonWork

/// The sources in a text: one per line, without blank lines and comments.
struct PrefetchList: Sendable {
    let arguments: [ImageArgument]

    /// A line that is neither an `http` or `https` URL nor a file is a source that fails.
    /// - Throws: `NoText`.
    init(_ data: Data) throws {
        // Names of files need not be UTF-8.
        guard !data.contains(0) else { throw NoText() }
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        arguments = lines.enumerated().compactMap { index, line in
            let text = String(escaping: line)
                // Some programs put a byte order mark at the beginning of a file.
                .trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
            if text.isEmpty || text.hasPrefix("#") { return nil }
            return Self.argument(text, line: index + 1)
        }
        self.arguments = arguments
    }

    /// The bytes are no text: a picture was given in place of a list, perhaps.
    struct NoText: Error, Equatable, CustomStringConvertible {
        var description: String { "it is no list of sources, but something else than text" }
    }

    /// - Parameter line: Its number, counted from 1.
    private static func argument(_ text: String, line: Int) -> ImageArgument {
        func bad(_ problem: String) -> ImageArgument {
            ImageArgument(
                text,
                failure: LoadFailure(
                    code: LoadFailure.badSource, message: "line \(line): \(problem)"))
        }
        if DataURI.isScheme(of: text) {
            return bad("A data URI holds its image and needs no prefetching")
        }
        let argument = ImageArgument(text)
        guard case .failure(let failure) = argument.source else { return argument }
        return bad(failure.message)
    }
}
