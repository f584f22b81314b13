import Foundation
import HalcyonWork

/// Where the pictures of the IIIF Image API are: rules, of which the first that has a picture counts.
package struct IIIFSources: Sendable {
    package enum Rule: Sendable {
        /// Identifiers are paths below a folder, with or without one of the extensions.
        case directory(String, extensions: [String])
        case template(Template)
        /// Identifiers and their sources.
        case table([String: String])
    }

    /// A regular expression for whole identifiers, and the source that it leads to.
    package struct Template: Sendable {
        private let expression: NSRegularExpression
        private let url: String

        /// - Parameters:
        ///   - match: Has to describe the whole identifier.
        ///   - url: `$1` is the first group, percent-encoded but for slashes; `$$` is a dollar sign.
        /// - Throws: `invalid_option` for an expression that is none, or has fewer groups than the URL uses.
        package init(match: String, url: String) throws(PlanError) {
            // The reason that Foundation gives says no more than this.
            guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(match))\\z") else {
                throw PlanError(.invalidOption, "IIIF source “\(match)” is no regular expression.")
            }
            self.expression = expression
            self.url = url
            let groups = Array(repeating: "", count: expression.numberOfCaptureGroups + 1)
            guard Self.filled(url, with: groups) != nil else {
                throw PlanError(
                    .invalidOption,
                    "IIIF source “\(match)” has fewer groups than its URL uses, or a $ too many.")
            }
        }

        /// The source of an identifier; `nil` when it is not described.
        func source(of identifier: String) -> String? {
            let range = NSRange(identifier.startIndex..., in: identifier)
            guard let match = expression.firstMatch(in: identifier, range: range) else {
                return nil
            }
            let groups = (0..<match.numberOfRanges).map { index in
                // A group that took no part is empty.
                Range(match.range(at: index), in: identifier).map {
                    PercentEncoding.encode(String(identifier[$0]).unescapedBytes, keeping: "/")
                } ?? ""
            }
            return Self.filled(url, with: groups)
        }

        /// `nil` where `$` is followed by something else than `$` or the number of a group.
        private static func filled(_ url: String, with groups: [String]) -> String? {
            var text = ""
            var rest = url[...]
            while let character = rest.popFirst() {
                guard character == "$" else {
                    text.append(character)
                    continue
                }
                guard let next = rest.popFirst() else { return nil }
                if next == "$" {
                    text.append("$")
                } else if next.isASCII, let number = next.wholeNumberValue,
                    number < groups.count
                {
                    text += groups[number]
                } else {
                    return nil
                }
            }
            return text
        }
    }

    package enum Candidate: Sendable, Hashable {
        case file(LocalPath, directory: String)
        /// As the source of an image URL: what is allowed holds for it, too.
        case source(String)
    }

    package var rules: [Rule]

    package init(rules: [Rule]) { self.rules = rules }

    /// The places to look at, one after the other; none: there is no such picture.
    package func candidates(for identifier: IIIFIdentifier) -> [Candidate] {
        rules.flatMap { rule -> [Candidate] in
            switch rule {
            case .directory(let directory, let extensions):
                let known = extensions.map { "." + $0.lowercased() }
                let isNamed = known.contains { identifier.text.lowercased().hasSuffix($0) }
                let names =
                    (isNamed || extensions.isEmpty ? [identifier.text] : [])
                    + known.map { identifier.text + $0 }
                // A path that cannot be has no file.
                return names.compactMap { name in
                    (try? LocalPath(segments: name)).map { .file($0, directory: directory) }
                }
            case .template(let template):
                return template.source(of: identifier.text).map { [.source($0)] } ?? []
            case .table(let sources):
                return sources[identifier.text].map { [.source($0)] } ?? []
            }
        }
    }
}
