import HalcyonWork

/// Writes the URL of a picture, step by step.
///
/// ```swift
/// let url = ImageURL(source: "https://example.com/a.jpg")
///     .resize(.fill, 300, 200).format(.webp)
/// let signed = signer.signed(url.path)
/// ```
///
/// Options are written in the order in which they are set, and read as ``PlanParser`` says. A URL may
/// name presets and options that this type has no method for, by ``option(_:_:)``.
public struct ImageURL: Sendable, Hashable {
    /// How the source is written.
    public enum SourceForm: Sendable, Hashable {
        /// base64url: without characters that something on the way could change.
        case encoded
        /// Percent-encoded: can be read.
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

    /// The path below the prefix of the routes, without signature: what is signed.
    public var path: String {
        let end: [String] =
            switch sourceForm {
            case .encoded:
                [Base64URL.encode(source.utf8) + (fileExtension.map { "." + $0 } ?? "")]
            case .plain:
                ["plain", plainSource + (fileExtension.map { "@" + $0 } ?? "")]
            }
        return (segments + end).map { "/" + $0 }.joined()
    }

    /// With its scheme as it is, so that slashes that were merged on the way can be told, unless a
    /// server would change the source.
    private var plainSource: String {
        let text = PercentEncoding.encode(source, keeping: "/:")
        let isKept = SignedPath.repaired("plain/" + text) == "plain/" + text
        return isKept ? text : PercentEncoding.encode(source)
    }

    /// Sets an option by its name, with its arguments as text; none of them may have `:` or `/`.
    public func option(_ name: OptionName, _ arguments: String...) -> ImageURL {
        with(name, arguments)
    }

    /// Adds options as they stand in a URL: `rs:fit:300:300/q:70`.
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

    /// Device pixels for each pixel.
    public func dpr(_ dpr: Double) -> ImageURL { with(.dpr, [Numbers.text(dpr)]) }

    public func gravity(_ gravity: Gravity) -> ImageURL {
        switch gravity {
        case .smart: with(.gravity, ["sm"])
        case .focus(let x, let y): with(.gravity, ["fp", Numbers.text(x), Numbers.text(y)])
        case .anchor(let anchor, let x, let y):
            with(.gravity, [anchor.rawValue, Numbers.text(x), Numbers.text(y)])
        }
    }

    /// From 1 on pixels of the source, below 1 shares of its sides, 0 the whole side.
    public func crop(_ width: Double, _ height: Double) -> ImageURL {
        with(.crop, [Numbers.text(width), Numbers.text(height)])
    }

    /// Degrees clockwise, a multiple of 90.
    public func rotate(_ degrees: Int) -> ImageURL { with(.rotate, ["\(degrees)"]) }

    /// The sigma of a Gaussian in pixels.
    public func blur(_ sigma: Double) -> ImageURL { with(.blur, [Numbers.text(sigma)]) }

    public func background(_ colour: RGBColor) -> ImageURL {
        with(.background, [colour.hexadecimal])
    }

    /// Per cent, 1…100.
    public func quality(_ percent: Int) -> ImageURL { with(.quality, ["\(percent)"]) }

    /// The format of the result, written behind the source.
    public func format(_ format: OutputFormat) -> ImageURL {
        var copy = self
        copy.fileExtension = format.fileExtension
        return copy
    }

    /// Names of presets of the server.
    public func presets(_ names: String...) -> ImageURL { with(.preset, names) }

    /// When the URL expires, in Unix seconds.
    public func expires(at seconds: Int) -> ImageURL { with(.expires, ["\(seconds)"]) }

    /// The name of the file for those who save it, without extension.
    public func filename(_ name: String) -> ImageURL {
        with(.filename, [Base64URL.encode(name.utf8), "1"])
    }

    private func with(_ name: OptionName, _ arguments: [String]) -> ImageURL {
        var copy = self
        copy.segments.append(([name.shortest] + arguments).joined(separator: ":"))
        return copy
    }
}
