/// Chooses the format of a picture by what the client accepts, for URLs that name none.
package struct AcceptNegotiation: Sendable, Hashable {
    /// The formats that may be chosen, in the order of preference: of AVIF, WebP and JPEG XL.
    package var formats: [OutputFormat]

    package init(formats: [OutputFormat]) { self.formats = formats }

    /// Whether the answer of a plan depends on `Accept`, so that `Vary` has to name it.
    package func concerns(_ plan: ImagePlan) -> Bool {
        !formats.isEmpty && plan.format == nil && !plan.options.raw
    }

    /// The format to write; `nil`: the one that a picture has by itself.
    ///
    /// Only formats that the client names count: programs that cannot show a format send `image/*`,
    /// too. A format loses to PNG or JPEG named with a higher quality.
    /// - Parameters:
    ///   - accept: All values of the header field.
    ///   - isAnimated: Only WebP is chosen for animations.
    ///   - canWrite: Whether the result can have the format: on this machine, and in its size.
    package func format(
        accept: [String], isAnimated: Bool, canWrite: (OutputFormat) -> Bool = { _ in true }
    ) -> OutputFormat? {
        let ranges = MediaRanges(accept)
        let plain = ["image/jpeg", "image/png"].compactMap { ranges.quality(named: $0) }.max() ?? 0
        var best: (format: OutputFormat, quality: Int)?
        for format in formats where !isAnimated || format.holdsAnimation {
            guard let quality = ranges.quality(named: format.mediaType), quality > 0,
                quality >= plain, quality > best?.quality ?? 0, canWrite(format)
            else { continue }
            best = (format, quality)
        }
        return best?.format
    }
}

/// Chooses between media types of documents, which say the same in different ways.
package enum DocumentNegotiation {
    /// The type of `info.json`: linked data unless plain JSON is accepted better.
    package static func infoType(accept: [String]) -> String {
        let ranges = MediaRanges(accept)
        let plain = ranges.quality(of: "application/json")
        return ranges.quality(of: "application/ld+json") < plain
            ? "application/json"
            : "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""
    }

    /// Whether an error is told as JSON: only when that is accepted better than text.
    package static func prefersJSON(accept: [String]) -> Bool {
        guard !accept.isEmpty else { return false }
        let ranges = MediaRanges(accept)
        return ranges.quality(of: "application/json") > ranges.quality(of: "text/plain")
    }
}
