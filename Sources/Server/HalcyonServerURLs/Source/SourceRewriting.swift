import Foundation

/// Replaces and completes the sources of URLs, before they are checked.
public struct SourceRewriting: Sendable {
    /// A regular expression, and what each of its matches is replaced by.
    public struct Rule: Sendable {
        fileprivate let expression: NSRegularExpression
        fileprivate let replacement: String

        /// - Parameter text: `expression=replacement`, parted at the first `=`. In the replacement `$1`
        ///   is the first group, `\$` a dollar sign.
        /// - Throws: `invalid_option` when there is no `=` or the expression cannot be read.
        public init(_ text: String) throws(PlanError) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty,
                let expression = try? NSRegularExpression(pattern: String(parts[0]))
            else {
                // The reason that Foundation gives says no more than this.
                throw PlanError(
                    .invalidOption,
                    "Rewriting “\(text)” has to be EXPRESSION=REPLACEMENT with a regular expression."
                )
            }
            self.expression = expression
            replacement = String(parts[1])
        }
    }

    /// Applied in this order, all of them.
    public var rules: [Rule]
    /// Put before sources that do not begin with it; empty: nothing.
    public var baseURL: String

    public init(rules: [Rule] = [], baseURL: String = "") {
        self.rules = rules
        self.baseURL = baseURL
    }

    public func rewritten(_ source: String) -> String {
        var text = source
        for rule in rules {
            text = rule.expression.stringByReplacingMatches(
                in: text, range: NSRange(text.startIndex..., in: text),
                withTemplate: rule.replacement)
        }
        return text.hasPrefix(baseURL) ? text : baseURL + text
    }
}
