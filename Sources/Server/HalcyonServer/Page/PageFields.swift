import HalcyonServerURLs
import HalcyonWork

/// The values of the page's form, from a query or a body (`application/x-www-form-urlencoded`).
struct PageFields: Sendable, Hashable {
    private var values: [String: String] = [:]

    init() {}

    /// Pairs that cannot be decoded are ignored; of several values with one name the last counts.
    init(form text: some StringProtocol) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { PercentEncoding.decode(String($0).replacing("+", with: " ")) }
            guard decoded.count == 2, let name = decoded[0], let value = decoded[1] else {
                continue
            }
            values[name] = value
        }
    }

    init(target: String) { self.init(form: target.drop { $0 != "?" }.dropFirst()) }

    /// The value with this name; `nil` when it is missing or empty.
    subscript(name: String) -> String? {
        get { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        set { values[name] = newValue }
    }

    /// The query, in the order of the names.
    var query: String {
        values.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
            "\(PercentEncoding.encode($0))=\(PercentEncoding.encode($1, keeping: "/:"))"
        }.joined(separator: "&")
    }

    var source: String? { self["source"] }

    /// Returns the URL that the controls describe, without signature.
    ///
    /// - Throws: `invalid_option` for values that would be several arguments; the parser of the URL
    ///   finds all other faults.
    func imageURL(source: String) throws(PlanError) -> ImageURL {
        for control in PageControl.all { try check(control) }
        var url = ImageURL(source: source, form: .plain)
        if ["rt", "w", "h", "el"].contains(where: { self[$0] != nil }) {
            let enlarge = self["el"] == nil ? "0" : "1"
            url = url.option(
                .resize, self["rt"] ?? "fit", self["w"] ?? "0", self["h"] ?? "0", enlarge)
        }
        if let dpr = self["dpr"] { url = url.option(.dpr, dpr) }
        if self["cw"] != nil || self["ch"] != nil {
            url = url.option(.crop, self["cw"] ?? "0", self["ch"] ?? "0")
        }
        if let gravity = self["g"] {
            url =
                gravity == "fp"
                ? url.option(.gravity, "fp", self["fx"] ?? "0.5", self["fy"] ?? "0.5")
                : url.option(.gravity, gravity)
        }
        if let threshold = self["t"] { url = url.option(.trim, threshold) }
        if let degrees = self["rot"] { url = url.option(.rotate, degrees) }
        if self["flh"] != nil || self["flv"] != nil {
            url = url.option(.flip, self["flh"] == nil ? "0" : "1", self["flv"] == nil ? "0" : "1")
        }
        let single: [(OptionName, String)] = [
            (.blur, "bl"), (.sharpen, "sh"), (.pixelate, "pix"), (.extend, "ex"), (.padding, "pd"),
            (.background, "bg"), (.quality, "q"), (.maxBytes, "mb"),
        ]
        for (option, name) in single {
            if let value = self[name] { url = url.option(option, value) }
        }
        url = watermarked(url)
        if self["meta"] != nil { url = url.option(.stripMetadata, "0") }
        guard let name = self["f"] else { return url }
        guard let format = OutputFormat(urlName: name) else {
            throw PlanError(.invalidOption, "There is no format \(name.prefix(40)).")
        }
        return url.format(format)
    }

    /// Adds the watermark, without trailing arguments that are not set.
    private func watermarked(_ url: ImageURL) -> ImageURL {
        let (opacity, place) = (self["wm"] ?? "1", self["wmp"] ?? "ce")
        if let scale = self["wms"] {
            return url.option(.watermark, opacity, place, "0", "0", scale)
        }
        if self["wmp"] != nil { return url.option(.watermark, opacity, place) }
        return self["wm"] == nil ? url : url.option(.watermark, opacity)
    }

    /// Rejects values with a colon or a slash, which would mean something else in a path.
    private func check(_ control: PageControl) throws(PlanError) {
        guard let value = self[control.name] else { return }
        let isPlain = value.utf8.allSatisfy { $0.isDigit || $0.isLetter || "+-.".utf8.contains($0) }
        guard isPlain, value.utf8.count <= 40 else {
            throw PlanError(
                .invalidOption, "“\(control.label)” has characters that no value of it has.")
        }
    }
}
