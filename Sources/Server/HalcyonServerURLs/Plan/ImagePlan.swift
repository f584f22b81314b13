/// The parsed form of an image URL: a source and its processing options.
///
/// Plans of URLs that mean the same picture have the same ``canonicalText``.
public struct ImagePlan: Sendable, Hashable {
    /// The source as text, decoded and rewritten: `https://…`, `local:///…`. Checked only to be not
    /// empty and without control characters. In the path of a local file, a byte that is not part of
    /// UTF-8 stands as the character U+10FF00 plus the byte.
    public var source: String
    public var options: ProcessingOptions

    public init(source: String, options: ProcessingOptions = ProcessingOptions()) {
        self.source = source
        self.options = options
    }

    /// The format in the URL; `nil`: found by negotiation, or that of the source.
    public var format: OutputFormat? { options.format }

    /// Whether the URL has expired.
    /// - Parameter now: Unix seconds.
    public func isExpired(at now: Double) -> Bool {
        options.expires.map { Double($0) < now } ?? false
    }
}
