package import Foundation

/// The document `info.json` of the IIIF Image API 3.0.
package struct IIIFInfo: Sendable, Hashable {
    package struct Link: Codable, Sendable, Hashable {
        package var id: String
        package var type: String

        package init(id: String, type: String) {
            self.id = id
            self.type = type
        }
    }

    /// The properties shared by all pictures of a source.
    package struct Extras: Sendable, Hashable {
        /// The URI of a licence or statement, of Creative Commons or rightsstatements.org.
        package var rights: String?
        package var partOf: [Link] = []
        package var seeAlso: [Link] = []
        package var service: [Link] = []

        package init() {}
    }

    /// The URI of the picture, without `/info.json`.
    package let id: String
    package let size: Dimensions
    package let limits: IIIFLimits
    /// The writable formats beside JPEG and PNG, which are required.
    package let extraFormats: [OutputFormat]
    package let extras: Extras

    /// - Parameters:
    ///   - size: After EXIF.
    ///   - formats: All writable formats.
    package init(
        id: String, size: Dimensions, limits: IIIFLimits = IIIFLimits(),
        formats: Set<OutputFormat>, extras: Extras = Extras()
    ) {
        self.id = id
        self.size = size
        self.limits = limits
        self.extras = extras
        let known = Set(IIIFParameters.formats.values).subtracting([.jpeg, .png])
        extraFormats = OutputFormat.allCases.filter { known.contains($0) && formats.contains($0) }
    }

    private static let tileSide = 512

    /// The available sizes in ascending order: the full size, halves, quarters and so on.
    package var sizes: [Dimensions] {
        var sizes: [Dimensions] = []
        var divisor = 1
        while max(size.width, size.height) / divisor >= 64 || divisor == 1 {
            let part = size.scaled(by: 1 / Double(divisor))
            if limits.allow(part) { sizes.append(part) }
            divisor *= 2
        }
        return sizes.reversed()
    }

    /// Powers of two, up to the first at which one tile covers the whole picture.
    package var scaleFactors: [Int] {
        var factors = [1]
        while let last = factors.last, last * Self.tileSide < size.longerSide {
            factors.append(last * 2)
        }
        return factors
    }

    /// The document. `@context` comes first, as the standard requires.
    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        // In this order `@` comes before all letters.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The value of the header field `Link` of a response.
    /// - Parameter canonical: The URI of the picture in its canonical form; `nil` for `info.json`.
    package static func linkField(canonical: String?) -> String {
        let profile = "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\""
        return canonical.map { "\(profile), <\($0)>;rel=\"canonical\"" } ?? profile
    }
}

extension IIIFInfo: Encodable {
    private enum Key: String, CodingKey {
        case context = "@context"
        case id, type, `protocol`, profile, width, height, maxWidth, maxHeight, maxArea, sizes
        case tiles, preferredFormats, extraFormats, extraQualities, extraFeatures
        case rights, partOf, seeAlso, service
    }

    private struct Tiles: Encodable {
        let width: Int
        let scaleFactors: [Int]
    }

    package func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: Key.self)
        try document.encode("http://iiif.io/api/image/3/context.json", forKey: .context)
        try document.encode(id, forKey: .id)
        try document.encode("ImageService3", forKey: .type)
        try document.encode("http://iiif.io/api/image", forKey: .protocol)
        try document.encode("level2", forKey: .profile)
        try document.encode(size.width, forKey: .width)
        try document.encode(size.height, forKey: .height)
        let declared = limits.declared(for: size)
        try document.encodeIfPresent(declared.width, forKey: .maxWidth)
        try document.encodeIfPresent(declared.height, forKey: .maxHeight)
        try document.encodeIfPresent(declared.area, forKey: .maxArea)
        try document.encode(sizes, forKey: .sizes)
        let side = Self.tileSide
        try document.encode([Tiles(width: side, scaleFactors: scaleFactors)], forKey: .tiles)
        let names = extraFormats.map(IIIFParameters.name)
        try document.encode(
            (names.contains("webp") ? ["webp"] : []) + ["jpg"], forKey: .preferredFormats)
        try document.encode(names, forKey: .extraFormats)
        try document.encode(["color", "gray", "bitonal"], forKey: .extraQualities)
        try document.encode(
            [
                "canonicalLinkHeader", "mirroring", "profileLinkHeader", "rotationArbitrary",
                "sizeUpscaling",
            ], forKey: .extraFeatures)
        try document.encodeIfPresent(extras.rights, forKey: .rights)
        if !extras.partOf.isEmpty { try document.encode(extras.partOf, forKey: .partOf) }
        if !extras.seeAlso.isEmpty { try document.encode(extras.seeAlso, forKey: .seeAlso) }
        if !extras.service.isEmpty { try document.encode(extras.service, forKey: .service) }
    }
}
