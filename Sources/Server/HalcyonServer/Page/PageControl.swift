import HalcyonServerURLs

/// A control of the page's form. The list of all is what the form is drawn from, and the names in it are
/// those of the page's query.
struct PageControl: Sendable {
    enum Kind: Sendable {
        /// A number of this range; `nil` without an end.
        case number(from: Double, to: Double?, step: Double)
        /// One of these: value and text. The first is what holds when nothing is chosen.
        case choice([(value: String, text: String)])
        /// On, with this value, or off.
        case flag(String)
        /// Hexadecimal digits of a colour.
        case colour
        /// Which part of a picture stays: nine anchors, the interesting part, or a point.
        case gravity
    }

    let name: String
    let label: String
    let kind: Kind

    private init(_ name: String, _ label: String, _ kind: Kind) {
        self.name = name
        self.label = label
        self.kind = kind
    }

    struct Group: Sendable {
        let title: String
        let controls: [PageControl]
    }

    static let all = groups.flatMap(\.controls)

    private static func pixels(_ name: String, _ label: String) -> PageControl {
        PageControl(name, label, .number(from: 0, to: nil, step: 1))
    }

    static let groups = [
        Group(
            title: "Size",
            controls: [
                PageControl(
                    "rt", "Type",
                    .choice([
                        ("", "fit"), ("fill", "fill"), ("fill-down", "fill, never enlarged"),
                        ("force", "force"), ("auto", "auto"),
                    ])),
                pixels("w", "Width"), pixels("h", "Height"),
                PageControl(
                    "dpr", "Pixel ratio",
                    .choice([("", "1×"), ("1.5", "1.5×"), ("2", "2×"), ("3", "3×")])),
                PageControl("el", "Enlarge", .flag("1")),
            ]),
        Group(
            title: "Crop",
            controls: [
                PageControl("cw", "Crop width", .number(from: 0, to: nil, step: 0.01)),
                PageControl("ch", "Crop height", .number(from: 0, to: nil, step: 0.01)),
                PageControl("g", "What stays", .gravity),
                PageControl("fx", "Focus from left", .number(from: 0, to: 1, step: 0.01)),
                PageControl("fy", "Focus from top", .number(from: 0, to: 1, step: 0.01)),
                PageControl("t", "Trim, threshold", .number(from: 0, to: nil, step: 1)),
            ]),
        Group(
            title: "Turn",
            controls: [
                PageControl(
                    "rot", "Rotate",
                    .choice([("", "0°"), ("90", "90°"), ("180", "180°"), ("270", "270°")])),
                PageControl("flh", "Flip left and right", .flag("1")),
                PageControl("flv", "Flip top and bottom", .flag("1")),
            ]),
        Group(
            title: "Effects",
            controls: [
                PageControl("bl", "Blur", .number(from: 0, to: 100, step: 0.1)),
                PageControl("sh", "Sharpen", .number(from: 0, to: 20, step: 0.1)),
                pixels("pix", "Pixelate"),
            ]),
        Group(
            title: "Canvas",
            controls: [
                PageControl("ex", "Extend to the size", .flag("1")),
                pixels("pd", "Padding"),
                PageControl("bg", "Background", .colour),
            ]),
        watermark,
        Group(
            title: "Output",
            controls: [
                PageControl(
                    "f", "Format",
                    .choice(
                        [("", "as the server chooses")]
                            + formats.map { ($0.fileExtension, $0.name) })),
                PageControl("q", "Quality", .number(from: 1, to: 100, step: 1)),
                pixels("mb", "Most bytes"),
                PageControl("meta", "Keep metadata", .flag("1")),
            ]),
    ]

    /// Only of use where the server has a watermark.
    static let watermark = Group(
        title: "Watermark",
        controls: [
            PageControl("wm", "Opacity", .number(from: 0, to: 1, step: 0.05)),
            PageControl(
                "wmp", "Place",
                .choice([
                    ("", "centre"), ("no", "top"), ("so", "bottom"), ("we", "left"),
                    ("ea", "right"), ("nowe", "top left"), ("noea", "top right"),
                    ("sowe", "bottom left"), ("soea", "bottom right"), ("re", "tiles"),
                ])),
            PageControl("wms", "Share of the picture", .number(from: 0, to: 1, step: 0.05)),
        ])

    /// Those that can be written here.
    static let formats = OutputFormat.allCases.filter(OutputFormat.writable.contains)
}

extension OutputFormat {
    /// As people write it.
    var name: String {
        switch self {
        case .webp: "WebP"
        case .jxl: "JPEG XL"
        default: rawValue.uppercased()
        }
    }
}
