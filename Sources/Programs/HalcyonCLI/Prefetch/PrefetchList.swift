import Foundation
import HalcyonWork

struct PrefetchList: Sendable {
    let arguments: [ImageArgument]

    /// A line that is neither an `http` or `https` URL nor a file is a source that fails.
    /// - Throws: `NoText`.
    init(_ data: Data) throws {
        // Names of files need not be UTF-8.
        guard !data.contains(0) else { throw NoText() }
        // Some programs put a byte order mark at the beginning of a file.
        let blanks = CharacterSet.whitespacesAndNewlines.union(["\u{FEFF}"])
        var arguments: [ImageArgument] = []
        var number = 0
        var rest = data[...]
        // Line by line, so that a long list is not in memory once more.
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let text = String(escaping: rest[..<end]).trimmingCharacters(in: blanks)
            number += 1
            rest = rest[end...].dropFirst()
            if text.isEmpty || text.hasPrefix("#") { continue }
            arguments.append(Self.argument(text, line: number))
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
