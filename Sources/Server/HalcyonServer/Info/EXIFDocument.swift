import HalcyonPixels

/// The reported EXIF data: a flat object, with numbers where the standard has numbers.
struct EXIFDocument: Encodable, Sendable {
    private let values: [String: Entry]

    private enum Entry: Encodable {
        case number(Double)
        case text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    /// Tags that tell nothing about places, people or single devices, except for the author.
    private static let harmless: Set = [
        "Make", "Model", "LensModel", "DateTimeOriginal", "OffsetTimeOriginal", "ExposureTime",
        "FNumber", "ISO", "FocalLength", "Orientation", "ColorSpace", "Software", "Artist",
        "Copyright", "ImageDescription",
    ]
    private static let numbers: Set = [
        "ExposureTime", "FNumber", "ISO", "FocalLength", "Orientation", "ColorSpace",
    ]
    /// The maximum number of characters in a text.
    private static let longest = 1000

    /// `nil` when there is nothing to report.
    ///
    /// - Parameter isAll: Whether to report positions, serial numbers, owners and maker notes, too.
    init?(_ header: StoredHeader, isAll: Bool) {
        var values: [String: Entry] = [:]
        for (tag, text) in header.exif {
            // The same tag in the words of two editions of the standard.
            let isSpeed = tag == "ISOSpeedRatings" || tag == "PhotographicSensitivity"
            let name = isSpeed ? "ISO" : tag
            guard isAll || Self.harmless.contains(name) else { continue }
            if Self.numbers.contains(name) {
                // A camera that does not know the value writes 0/0.
                if let number = Self.number(text) { values[name] = .number(number) }
            } else if !text.isEmpty {
                values[name] = .text(String(text.prefix(Self.longest)))
            }
        }
        guard !values.isEmpty else { return nil }
        self.values = values
    }

    private static func number(_ text: String) -> Double? {
        let parts = text.split(separator: "/", maxSplits: 1).map { Double($0) }
        guard let over = parts.first ?? nil, parts.count == 2 else { return parts.first ?? nil }
        guard let under = parts[1], under != 0 else { return nil }
        return over / under
    }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}
