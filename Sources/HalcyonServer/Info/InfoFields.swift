import HalcyonHTTP
import HalcyonServerPlans

/// What a request for information about a source asks for: `/size:1/dimensions:1/plain/…`.
struct InfoFields: Sendable, Hashable {
    enum Field: String, Sendable, CaseIterable {
        case size
        case format
        case dimensions
        case pagesNumber = "pages_number"
        case animation
        case hash

        /// The short name, where there is one.
        var shortName: String? {
            switch self {
            case .size: "s"
            case .format: "f"
            case .dimensions: "d"
            case .pagesNumber: "pn"
            case .animation: nil
            case .hash: "h"
            }
        }

        init?(urlName: String) {
            let found = Field.allCases.first { $0.rawValue == urlName || $0.shortName == urlName }
            guard let found else { return nil }
            self = found
        }
    }

    let fields: Set<Field>
    /// What follows the options: a path with nothing but the source.
    let sourcePath: String

    /// Fields that are known to others, and not told here.
    private static let unsupported: Set<String> = [
        "colorspace", "cs", "bands", "b", "sample_format", "sf", "exif", "xmp", "iptc", "average",
        "a",
        "dominant_colors", "dc", "palette", "p", "blurhash", "bh", "thumbhash", "th", "dhash",
        "phash",
    ]

    /// - Parameter path: What is signed.
    init(path: String) throws(PlanError) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var fields: Set<Field> = []
        var isChosen = false
        while let segment = segments.first, segment.contains(":") {
            let parts = segment.split(separator: ":", omittingEmptySubsequences: false).map(
                String.init)
            guard let field = Field(urlName: parts[0]) else {
                throw Self.unknown(parts[0])
            }
            isChosen = true
            if field == .hash {
                guard parts.count == 2, parts[1] == "sha256" else {
                    throw PlanError(.invalidOption, "Option hash has to be hash:sha256.")
                }
                fields.insert(field)
            } else {
                guard parts.count == 2, let flag = Self.flag(parts[1]) else {
                    throw PlanError(.invalidOption, "Option \(parts[0]) has to be 1 or 0.")
                }
                if flag { fields.insert(field) } else { fields.remove(field) }
            }
            segments = segments.dropFirst()
        }
        self.fields = isChosen ? fields : [.size, .format, .dimensions, .pagesNumber]
        sourcePath = "/" + segments.joined(separator: "/")
    }

    /// The same text for requests that mean the same.
    var canonicalText: String { fields.map(\.rawValue).sorted().joined(separator: "/") }

    private static func flag(_ text: String) -> Bool? {
        switch text {
        case "1", "t", "true": true
        case "0", "f", "false": false
        default: nil
        }
    }

    private static func unknown(_ name: String) -> PlanError {
        unsupported.contains(name)
            ? PlanError(.unsupportedOption, "Option \(name) is not supported by Halcyon.")
            : PlanError(.invalidOption, "There is no option “\(name.prefix(40))” for information.")
    }
}
