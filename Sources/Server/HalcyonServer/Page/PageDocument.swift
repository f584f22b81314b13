import HalcyonServerURLs
import HalcyonWork

/// The page as HTML, with the form's values and, if any, the picture; works without its script.
struct PageDocument: Sendable {
    let fields: PageFields
    /// The token for the script's own requests.
    let token: String
    /// Whether other machines can open the page.
    var isPublic = false
    var hasWatermark = false
    /// Whether the server fetches sources from other servers.
    var fetches = false
    var samples: [String] = []
    /// The URLs of the described picture; `nil` without a source, or when the fields are invalid.
    var urls: PageURLs?
    var failure: PlanError?
    /// Returns the path, for use in the page, of the picture that fields describe.
    var exampleURL: @Sendable (PageFields) -> String? = { _ in nil }

    /// Allows only what the server itself sends, and pictures that the script has fetched.
    static let securityPolicy =
        "default-src 'none'; img-src 'self' blob: data:; script-src 'self'; style-src 'self'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    var html: String {
        let parts = [
            "token": token, "notice": notice, "source": Self.escaped(fields.source ?? ""),
            "samples": sampleList, "controls": groups.map(group).joined(),
            "picture": picture, "status": status, "details": details,
            "words": ServerFailure.allWords(fetches: fetches), "url": Self.escaped(urls?.url ?? ""),
            "html": Self.escaped(urls?.html ?? ""), "curl": Self.escaped(urls?.curl ?? ""),
            "examples": examples,
        ]
        // Inserted values are not searched again.
        var rest = PageAsset.template[...]
        var text = ""
        while let start = rest.firstRange(of: "{{"), let end = rest.firstRange(of: "}}") {
            text += rest[..<start.lowerBound]
            text += parts[String(rest[start.upperBound..<end.lowerBound])] ?? ""
            rest = rest[end.upperBound...]
        }
        return text + rest
    }

    private static func escaped(_ text: String) -> String {
        XMLEscaping.escape(text, apostrophe: "&#39;")
    }

    private var notice: String {
        isPublic
            ? "<p class=\"notice\">This page is public: whoever can open it can have any allowed "
                + "picture signed.</p>" : ""
    }

    private var picture: String {
        let path = urls.map { " src=\"\(Self.escaped($0.path))\"" } ?? ""
        return "<img id=\"picture\" alt=\"\(urls == nil ? "" : "The result")\"\(path)>"
    }

    private var status: String {
        guard let failure else {
            return urls == nil
                ? "Choose a picture to begin with." : "The picture as it is asked for."
        }
        return "<strong>\(failure.failure.words(fetches: fetches))</strong> "
            + "<span>\(Self.escaped(failure.reason))</span>"
    }

    private var details: String {
        "<details id=\"raw\"\(failure == nil ? " hidden" : "")><summary>Details</summary>"
            + "<code>\(failure?.code ?? "")</code></details>"
    }

    private var sampleList: String {
        samples.map { source in
            var small = PageFields()
            (small["source"], small["w"], small["h"], small["rt"]) = (source, "96", "96", "fill")
            var whole = PageFields()
            whole["source"] = source
            let name = Self.escaped(String(source.split(separator: "/").last ?? ""))
            let path = Self.escaped(exampleURL(small) ?? "")
            return "<a class=\"sample\" href=\"./?\(Self.escaped(whole.query))\" "
                + "data-source=\"\(Self.escaped(source))\"><img src=\"\(path)\" alt=\"\(name)\" "
                + "title=\"\(name)\" width=\"48\" height=\"48\" loading=\"lazy\"></a>"
        }.joined(separator: "\n")
    }

    private var examples: String {
        guard !samples.isEmpty else {
            return "<p>Examples need pictures in the folder for local sources.</p>"
        }
        return PageExample.all.enumerated().compactMap { index, example in
            var fields = PageFields(form: example.query)
            let wished = samples.first { $0.hasSuffix("/" + example.file) }
            fields["source"] = wished ?? samples[index % samples.count]
            guard let path = exampleURL(fields) else { return nil }
            return "<figure><a href=\"./?\(Self.escaped(fields.query))\"><img "
                + "src=\"\(Self.escaped(path))\" alt=\"\(example.title)\" width=\"160\" "
                + "height=\"120\" loading=\"lazy\"></a><figcaption>\(example.title)"
                + "<code>\(Self.escaped(example.query))</code></figcaption></figure>"
        }.joined(separator: "\n")
    }

    private var groups: [PageControl.Group] {
        PageControl.groups.filter { hasWatermark || $0.title != PageControl.watermark.title }
    }

    private func group(_ group: PageControl.Group) -> String {
        let isUsed = group.controls.contains { fields[$0.name] != nil }
        let isOpen = isUsed || group.title == PageControl.groups[0].title
        return "<details class=\"group\"\(isOpen ? " open" : "")><summary>\(group.title)</summary>"
            + "<div class=\"fields\">\n" + group.controls.map(control).joined(separator: "\n")
            + "\n</div></details>\n"
    }

    private func control(_ control: PageControl) -> String {
        let name = control.name
        let value = Self.escaped(fields[name] ?? "")
        let label = "<label for=\"\(name)\">\(control.label)</label>"
        let common = "id=\"\(name)\" name=\"\(name)\""
        switch control.kind {
        case .number(let from, let to, let step):
            func text(_ number: Double) -> String {
                Int(exactly: number).map(String.init) ?? "\(number)"
            }
            let most = to.map { " max=\"\(text($0))\"" } ?? ""
            return "<div>\(label)<input type=\"number\" \(common) value=\"\(value)\" "
                + "min=\"\(text(from))\"\(most) step=\"\(text(step))\"></div>"
        case .choice(let options):
            let texts = options.map { option in
                let isChosen = option.value == fields[name] ?? ""
                return "<option value=\"\(option.value)\"\(isChosen ? " selected" : "")>"
                    + "\(option.text)</option>"
            }
            return "<div>\(label)<select \(common)>\(texts.joined())</select></div>"
        case .flag(let on):
            let isOn = fields[name] != nil
            return "<div class=\"flag\"><input type=\"checkbox\" \(common) value=\"\(on)\""
                + "\(isOn ? " checked" : "")>\(label)</div>"
        case .colour:
            return "<div>\(label)<input type=\"text\" \(common) value=\"\(value)\" "
                + "pattern=\"[0-9a-fA-F]{3}([0-9a-fA-F]{3})?\" placeholder=\"ff8800\" "
                + "autocomplete=\"off\"></div>"
        case .gravity:
            return gravity(control)
        }
    }

    /// Returns the choice of nine positions, and two more.
    private func gravity(_ control: PageControl) -> String {
        let places = [
            ("nowe", "top left"), ("no", "top"), ("noea", "top right"), ("we", "left"),
            ("", "centre"), ("ea", "right"), ("sowe", "bottom left"), ("so", "bottom"),
            ("soea", "bottom right"), ("sm", "interesting part"), ("fp", "focus point"),
        ]
        let buttons = places.map { value, title in
            let id = "g-\(value.isEmpty ? "ce" : value)"
            let isChosen = value == fields[control.name] ?? ""
            return "<span\(value == "sm" || value == "fp" ? " class=\"wide\"" : "")><input "
                + "type=\"radio\" id=\"\(id)\" name=\"\(control.name)\" value=\"\(value)\""
                + "\(isChosen ? " checked" : "")><label for=\"\(id)\">\(title)</label></span>"
        }
        return "<fieldset class=\"places\"><legend>\(control.label)</legend>"
            + buttons.joined() + "</fieldset>"
    }
}

struct PageExample: Sendable {
    /// The preferred sample for it, if there.
    let file: String
    let title: String
    /// The form's query, without the source.
    let query: String

    static let all = [
        PageExample(file: "china.jpg", title: "Within 320 pixels", query: "h=320&w=320"),
        PageExample(
            file: "astronaut-progressive.jpg", title: "A square, cut where it matters",
            query: "g=sm&h=300&rt=fill&w=300"),
        PageExample(file: "chelsea.png", title: "As WebP", query: "f=webp&q=70&w=320"),
        PageExample(file: "coffee.webp", title: "The left half", query: "cw=0.5&g=we&w=300"),
        PageExample(file: "rocket.jpg", title: "Turned by a quarter", query: "h=320&rot=90"),
        PageExample(file: "flower.jpg", title: "Mirrored", query: "flh=1&w=320"),
        PageExample(file: "china.jpg", title: "Blurred", query: "bl=6&w=320"),
        PageExample(file: "camera.png", title: "Sharpened", query: "sh=1.5&w=320"),
        PageExample(file: "astronaut-progressive.jpg", title: "Pixels", query: "pix=12&w=320"),
        PageExample(
            file: "flower.jpg", title: "On a ground of its own",
            query: "bg=204060&ex=1&h=320&w=320"),
        PageExample(
            file: "retina.jpg", title: "Trimmed, with a frame", query: "bg=ffffff&pd=12&t=20&w=300"),
        PageExample(
            file: "hubble_deep_field.jpg", title: "At most 10,000 bytes",
            query: "f=jpg&mb=10000&w=320"),
    ]
}
