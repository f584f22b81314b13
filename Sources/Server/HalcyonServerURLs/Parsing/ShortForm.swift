import HalcyonWork

/// Unsigned URLs, as typed by hand: `rs:fit:300:200/https://example.com/a.jpg`, or
/// `w=300,h=200,fit=cover/local:///a.jpg`.
struct ShortForm {
    /// In the usual form.
    let options: [String]
    let source: SourceText

    /// - Parameter text: The text after `/-/`, with the query, which belongs to the source.
    init(_ text: String) throws(PlanError) {
        var rest = Substring(text)
        var options: [String] = []
        if let segment = Self.segment(rest), let list = try Self.commaForm(segment) {
            options = list
            rest = rest.dropFirst(segment.count + 1)
        }
        while let segment = Self.segment(rest), Self.isOption(segment) {
            options.append(String(segment))
            rest = rest.dropFirst(segment.count + 1)
        }
        self.options = options
        source = try SourceText(encoded: rest, format: "")
    }

    /// The text up to the next slash; `nil` without a slash.
    private static func segment(_ text: Substring) -> Substring? {
        text.firstIndex(of: "/").map { text[..<$0] }
    }

    private static func isOption(_ segment: Substring) -> Bool {
        guard let colon = segment.firstIndex(of: ":") else { return false }
        let name = String(segment[..<colon])
        return OptionName(urlName: name) != nil || OptionName.unsupported.contains(name)
    }

    /// The options of a list of `key=value`; `nil` when the segment is not such a list.
    private static func commaForm(_ segment: Substring) throws(PlanError) -> [String]? {
        let pairs = segment.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        guard pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        var options: [String] = []
        for pair in pairs { options += try self.options(String(pair[0]), String(pair[1])) }
        return options
    }

    private static func options(_ key: String, _ value: String) throws(PlanError) -> [String] {
        switch key {
        case "w", "h", "q", "f", "format", "dpr", "g", "gravity", "blur", "sharpen", "rotate",
            "bg":
            return ["\(key):\(value)"]
        case "fit":
            if let options = fits[value] { return options }
            if ProcessingOptions.ResizingType(rawValue: value) != nil { return ["rt:\(value)"] }
            throw PlanError(
                .invalidOption,
                "fit=\(OptionArguments.shown(value)) has to be one of "
                    + "scale-down contain cover crop pad.")
        default:
            throw PlanError(
                .invalidOption,
                "“\(OptionArguments.shown(key))” has to be one of "
                    + "w h fit q f format dpr g gravity blur sharpen rotate bg.")
        }
    }

    private static let fits = [
        "scale-down": ["rt:fit"], "contain": ["rt:fit", "el:1"], "cover": ["rt:fill", "el:1"],
        "crop": ["rt:fill"], "pad": ["rt:fit", "ex:1"],
    ]
}
