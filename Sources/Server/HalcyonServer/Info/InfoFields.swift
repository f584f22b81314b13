import HalcyonHTTP
import HalcyonServerURLs

/// The fields of a request for information about a source: `/size:1/blurhash:4:3/plain/…`.
struct InfoFields: Sendable, Hashable {
    enum Field: String, Sendable, CaseIterable {
        case size
        case format
        case dimensions
        case pagesNumber = "pages_number"
        case colorSpace = "colorspace"
        case bands
        case sampleFormat = "sample_format"
        case exif
        case animation
        case average
        case dominantColors = "dominant_colors"
        case thumbHash = "thumbhash"
        case dHash = "dhash"
        case pHash = "phash"

        init?(urlName: String) {
            guard let field = Field(rawValue: urlName) ?? Self.byShortName[urlName] else {
                return nil
            }
            self = field
        }

        private static let byShortName: [String: Field] = [
            "s": .size, "f": .format, "d": .dimensions, "pn": .pagesNumber, "cs": .colorSpace,
            "b": .bands, "sf": .sampleFormat, "a": .average, "dc": .dominantColors,
            "th": .thumbHash,
        ]

        var needsPixels: Bool {
            switch self {
            case .average, .dominantColors, .thumbHash, .dHash, .pHash: true
            default: false
            }
        }
    }

    private(set) var fields: Set<Field> = []
    private(set) var digest = false
    private(set) var palette: Int?
    private(set) var blurHash: BlurHashSize?
    /// The path after the options, which contains only the source.
    let sourcePath: String

    /// The number of waves, each 1…9.
    struct BlurHashSize: Sendable, Hashable {
        var columns = 4
        var rows = 3
    }

    /// Known fields of other servers that are not supported here.
    private static let unsupported: Set<String> = ["xmp", "iptc"]

    init(path: String) throws(PlanError) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let options = segments.prefix { $0.contains(":") }
        segments = segments.dropFirst(options.count)
        sourcePath = "/" + segments.joined(separator: "/")
        if options.isEmpty { fields = Set(Field.allCases.filter { !$0.needsPixels }) }
        for option in options {
            let parts = option.split(separator: ":", omittingEmptySubsequences: false)
            try take(String(parts[0]), parts.dropFirst().map(String.init))
        }
    }

    /// Whether a field is requested that needs more of the header than the size.
    var needsStoredHeader: Bool {
        !fields.isDisjoint(with: [.colorSpace, .bands, .sampleFormat, .exif])
    }

    var needsPixels: Bool {
        palette != nil || blurHash != nil || fields.contains(where: \.needsPixels)
    }

    var canonicalText: String {
        var texts = fields.map(\.rawValue)
        if digest { texts.append("hash:sha256") }
        if let palette { texts.append("palette:\(palette)") }
        if let blurHash { texts.append("blurhash:\(blurHash.columns):\(blurHash.rows)") }
        return texts.sorted().joined(separator: "/")
    }

    private mutating func take(_ name: String, _ arguments: [String]) throws(PlanError) {
        switch name {
        case "hash", "h":
            guard arguments == ["sha256"] else {
                throw PlanError(.invalidOption, "Option hash has to be hash:sha256.")
            }
            digest = true
        case "palette", "p":
            guard arguments.count == 1, let count = Self.number(arguments[0], in: 1...64) else {
                throw PlanError(
                    .invalidOption, "Option palette has to be palette:COUNT, from 1 to 64.")
            }
            palette = count
        case "blurhash", "bh":
            blurHash = try Self.blurHashSize(arguments)
        default:
            guard let field = Field(urlName: name) else { throw Self.unknown(name) }
            guard arguments.count == 1, let isWanted = Self.flag(arguments[0]) else {
                throw PlanError(.invalidOption, "Option \(name) has to be 1 or 0.")
            }
            if isWanted { fields.insert(field) } else { fields.remove(field) }
        }
    }

    /// An empty or missing argument keeps the default.
    private static func blurHashSize(_ arguments: [String]) throws(PlanError) -> BlurHashSize {
        let usual = BlurHashSize()
        func side(_ index: Int, _ usual: Int) -> Int? {
            guard index < arguments.count, !arguments[index].isEmpty else { return usual }
            return number(arguments[index], in: 1...9)
        }
        guard arguments.count <= 2, let columns = side(0, usual.columns),
            let rows = side(1, usual.rows)
        else {
            throw PlanError(
                .invalidOption,
                "Option blurhash has to be blurhash:COLUMNS:ROWS, each from 1 to 9.")
        }
        return BlurHashSize(columns: columns, rows: rows)
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
        Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

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
