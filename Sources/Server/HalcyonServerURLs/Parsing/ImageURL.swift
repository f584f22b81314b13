import HalcyonWork

/// A builder for the URLs of pictures.
///
/// ```swift
/// let url = ImageURL(source: "https://example.com/a.jpg")
///     .resize(.fill, 300, 200).format(.webp)
/// let signed = signer.signed(url.path)
/// ```
///
/// Options are written in the order in which they are set, and read by ``PlanParser``. Presets and
/// options without a method of their own are added by ``option(_:_:)``.
public struct ImageURL: Sendable, Hashable {
    /// The encoding of the source.
    public enum SourceForm: Sendable, Hashable {
        /// base64url: without characters that proxies could change.
        case encoded
        /// Percent-encoded: human-readable.
        case plain
    }

    public var source: String
    public var sourceForm: SourceForm
    private var segments: [String] = []
    private var fileExtension: String?

    public init(source: String, form: SourceForm = .encoded) {
        self.source = source
        sourceForm = form
    }

    /// The path below the prefix of the routes, without signature: the signed text.
    public var path: String {
        let end: [String] =
            switch sourceForm {
            case .encoded:
                [Base64URL.encode(source.unescapedBytes) + (fileExtension.map { "." + $0 } ?? "")]
            case .plain:
                ["plain", plainSource + (fileExtension.map { "@" + $0 } ?? "")]
            }
        return (segments + end).map { "/" + $0 }.joined()
    }

    /// The source with its scheme as it is, so that merged slashes can be restored, unless a server
    /// would change the source.
    private var plainSource: String {
        let text = PercentEncoding.encode(source.unescapedBytes, keeping: "/:")
        let isKept = SignedPath.repaired("plain/" + text) == "plain/" + text
        return isKept ? text : PercentEncoding.encode(source.unescapedBytes)
    }

    /// Sets an option by its name, with its arguments as text; none of them may have `:` or `/`.
    public func option(_ name: OptionName, _ arguments: String...) -> ImageURL {
        with(name, arguments)
    }

    /// Adds options in their URL form: `rs:fit:300:300/q:70`.
    public func options(_ text: String) -> ImageURL {
        var copy = self
        copy.segments += text.split(separator: "/").map(String.init)
        return copy
    }

    /// - Parameters:
    ///   - width: Pixels; 0: follows from the height.
    ///   - height: Pixels; 0: follows from the width.
    public func resize(
        _ type: ProcessingOptions.ResizingType, _ width: Int, _ height: Int, enlarge: Bool = false
    ) -> ImageURL {
        with(.resize, [type.rawValue, "\(width)", "\(height)"] + (enlarge ? ["1"] : []))
    }

    /// Sets the device pixels per pixel.
    public func dpr(_ dpr: Double) -> ImageURL { with(.dpr, [Numbers.text(dpr)]) }

    public func gravity(_ gravity: Gravity) -> ImageURL { with(.gravity, gravity.arguments) }

    /// Sets the crop: from 1 on pixels of the source, below 1 shares of its sides, 0 a whole side.
    public func crop(_ width: Double, _ height: Double) -> ImageURL {
        with(.crop, [Numbers.text(width), Numbers.text(height)])
    }

    /// Rotates by degrees clockwise, a multiple of 90.
    public func rotate(_ degrees: Int) -> ImageURL { with(.rotate, ["\(degrees)"]) }

    /// Blurs by a Gaussian with this sigma in pixels.
    public func blur(_ sigma: Double) -> ImageURL { with(.blur, [Numbers.text(sigma)]) }

    public func background(_ colour: RGBColor) -> ImageURL {
        with(.background, [colour.hexadecimal])
    }

    /// Sets the quality in per cent, 1…100.
    public func quality(_ percent: Int) -> ImageURL { with(.quality, ["\(percent)"]) }

    /// Sets the format of the result, written behind the source.
    public func format(_ format: OutputFormat) -> ImageURL {
        var copy = self
        copy.fileExtension = format.fileExtension
        return copy
    }

    /// Applies presets of the server by name.
    public func presets(_ names: String...) -> ImageURL { with(.preset, names) }

    /// Sets the expiration of the URL, in Unix seconds.
    public func expires(at seconds: Int) -> ImageURL { with(.expires, ["\(seconds)"]) }

    /// Sets the file name for downloads, without extension.
    public func filename(_ name: String) -> ImageURL {
        with(.filename, [Base64URL.encode(name.utf8), "1"])
    }

    private func with(_ name: OptionName, _ arguments: [String]) -> ImageURL {
        var copy = self
        copy.segments.append(([name.shortest] + arguments).joined(separator: ":"))
        return copy
    }
}
