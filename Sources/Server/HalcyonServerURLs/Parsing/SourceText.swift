import HalcyonWork

/// The end of an image URL: what the source is, and which format is asked for behind it.
struct SourceText {
    /// With bytes that are not UTF-8 as `String.init(escaping:)` has them.
    let text: String
    /// Not yet known to be a format.
    let format: String?

    /// - Parameter segments: From `plain` or the first part of base64url on.
    init(segments: ArraySlice<String>) throws(PlanError) {
        guard let first = segments.first else {
            throw PlanError(.invalidPath, "The URL has no source.")
        }
        if segments.count > 1, first == "enc" || first == "-" {
            let what = first == "enc" ? "Encrypted sources are" : "Chained processing is"
            throw PlanError(.unsupportedOption, "\(what) not supported by Halcyon.")
        }
        if first == "plain" {
            try self.init(plain: segments.dropFirst().joined(separator: "/"))
        } else {
            try self.init(base64: segments.joined())
        }
    }

    /// - Parameter text: Percent-encoded, perhaps with `@` and a format behind it.
    private init(plain text: String) throws(PlanError) {
        let parts = text.parts(at: "@")
        guard parts.count <= 2 else {
            throw PlanError(.invalidPath, "The source has more than one @; write %40 within it.")
        }
        try self.init(encoded: parts[0], format: parts.count == 2 ? parts[1] : "")
    }

    /// - Parameter text: base64url, perhaps with `.` and a format behind it.
    private init(base64 text: String) throws(PlanError) {
        let parts = text.parts(at: ".")
        guard parts.count <= 2 else {
            throw PlanError(.invalidPath, "The source in base64url has more than one dot.")
        }
        var encoded = parts[0].utf8[...]
        while encoded.last == UInt8(ascii: "=") { encoded = encoded.dropLast() }
        guard let bytes = Base64URL.decode(Substring(encoded)) else {
            throw PlanError(.invalidPath, "The source is not base64url.")
        }
        try self.init(bytes: bytes, format: parts.count == 2 ? parts[1] : "")
    }

    /// - Parameters:
    ///   - text: Percent-encoded.
    ///   - format: Empty: none.
    init(encoded text: some StringProtocol, format: String) throws(PlanError) {
        guard let bytes = PercentEncoding.bytes(Substring(text).utf8) else {
            throw PlanError(.invalidPath, "The source is not percent-encoded.")
        }
        try self.init(bytes: bytes, format: format)
    }

    private init(bytes: [UInt8], format: String) throws(PlanError) {
        let text = String(escaping: bytes)
        guard !text.isEmpty else { throw PlanError(.invalidPath, "The source is empty.") }
        guard !text.hasControlCharacters else {
            throw PlanError(.invalidPath, "The source has control characters.")
        }
        self.text = text
        self.format = format.isEmpty ? nil : format
    }
}
