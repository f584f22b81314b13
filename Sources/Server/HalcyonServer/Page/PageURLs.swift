import HalcyonServerURLs
import HalcyonWork

/// The URLs of the picture on the page, as sent to its script.
struct PageURLs: Encodable, Sendable {
    /// The path of the picture for the page itself.
    let path: String
    /// The picture's own URL; `nil` for uploads, which are not accessible to others.
    var url: String?
    /// The whole source, at most 1,200 pixels wide and high.
    let original: String
    /// The path of the information about the source.
    let info: String
    /// The IIIF URL of the picture; `nil` where IIIF cannot express it.
    var iiif: String?
    /// HTML with variants of the picture for pixel ratios 1, 2 and 3.
    var html: String?
    var curl: String?
    /// The paths of the picture in each writable format.
    let formats: [Written]

    struct Written: Encodable, Sendable {
        let name: String
        let path: String
    }
}

/// Writes the URLs of the page.
struct PageURLWriter: Sendable {
    let reader: URLReader
    let addresses: PublicAddresses
    /// The pictures of the IIIF Image API, if local files are among them by their own names.
    let iiif: IIIFPictures?

    /// The path of the page, and of all that belongs to it.
    var folder: String { addresses.prefix + PageRoute.folder }

    /// Returns the URLs for the values of the controls; `source` is that of the fields.
    ///
    /// - Parameter address: The part before the paths of ``sign(_:)``, without the server's prefix.
    func urls(
        _ fields: PageFields, source: String, address: String
    ) throws(Failure) -> PageURLs {
        let isUpload = source.hasPrefix(PageUploads.scheme)
        let url = try checkedURL(fields, source: source)
        var whole = PageFields()
        (whole["w"], whole["h"]) = ("1200", "1200")
        let details = Self.detailsPath + ImageURL(source: source, form: .plain).path
        var urls = PageURLs(
            path: try picturePath(fields, source: source),
            original: try picturePath(whole, source: source),
            info: (isUpload ? folder + "info" : addresses.prefix + "/info")
                + (try signed(details)),
            formats: try PageControl.formats.map { (format) throws(Failure) in
                var other = fields
                other["f"] = format.fileExtension
                return PageURLs.Written(
                    name: format.name, path: try picturePath(other, source: source))
            })
        guard !isUpload else { return urls }
        let text = address + (try signed(url.path))
        urls.url = text
        let ending = OutputFormat(urlName: fields["f"] ?? "") ?? .jpeg
        urls.curl = "curl -o picture.\(ending.fileExtension) '\(text)'"
        urls.html = try html(fields, source: source, address: address)
        return urls
    }

    /// Signs with the first key; without required signatures, a word stands in for one.
    private func signed(_ path: String) throws(Failure) -> String {
        guard reader.requiresSignature else { return "/_" + path }
        guard let signed = reader.rules.signer.signed(path) else {
            throw Failure(.forbidden, "There is no key to sign with")
        }
        return signed
    }

    private static let detailsPath = "/s:1/f:1/d:1/pn:1/a:1/p:6/bh:4:3/th:1/dhash:1/phash:1"

    /// Returns the path, for use in the page, of the picture that the controls describe.
    func picturePath(_ fields: PageFields, source: String) throws(Failure) -> String {
        let isUpload = source.hasPrefix(PageUploads.scheme)
        let url = try checkedURL(fields, source: source)
        return (isUpload ? folder + "image" : addresses.prefix) + (try signed(url.path))
    }

    /// Returns the URL after checking that it can be parsed.
    private func checkedURL(_ fields: PageFields, source: String) throws(Failure) -> ImageURL {
        try Failure.ofPlan { () throws(PlanError) in
            let url = try fields.imageURL(source: source)
            _ = try reader.rules.parser.parse(path: url.path)
            return url
        }
    }

    /// Returns an `img` element; `nil` without a size.
    private func html(
        _ fields: PageFields, source: String, address: String
    ) throws(Failure) -> String? {
        guard fields["w"] != nil || fields["h"] != nil else { return nil }
        var candidates: [String] = []
        for density in 1...3 {
            var dense = fields
            dense["dpr"] = density == 1 ? nil : String(density)
            let url = try checkedURL(dense, source: source)
            candidates.append(address + (try signed(url.path)))
        }
        let set = candidates.enumerated().map { "\($1) \($0 + 1)x" }.joined(separator: ", ")
        return "<img src=\"\(candidates[0])\" srcset=\"\(set)\" alt=\"\">"
    }

    /// Returns the IIIF URL of the same picture, if there is one: for local files that IIIF serves,
    /// if only size, turn and format are set.
    func iiifURL(
        _ fields: PageFields, source text: String, address: String, for asker: SourceAsker,
        until ending: Ending
    ) async throws(Failure) -> String? {
        guard let iiif, text.hasPrefix("local:///") else { return nil }
        let name = String(text.dropFirst("local:///".count))
        guard let identifier = try? IIIFIdentifier(encoded: PercentEncoding.encode(name)) else {
            return nil
        }
        let parser = reader.rules.parser
        let (options, plain) = try Failure.ofPlan { () throws(PlanError) in
            (
                try parser.parse(path: try fields.imageURL(source: text).path).options,
                try parser.parse(path: ImageURL(source: text, form: .plain).path).options
            )
        }
        guard options.saysOnlySizeAndTurn(beside: plain) else { return nil }
        let (_, header) = try await iiif.opened(identifier, for: asker, until: ending)
        let geometry = Geometry(
            source: header.size, options: options, limit: iiif.rules.limits.maxResultDimension)
        guard geometry.cut == nil else { return nil }
        let size = geometry.turn.turned(geometry.scaled)
        let isLarger = size.width > header.size.width || size.height > header.size.height
        let sizeText =
            size == header.size ? "max" : "\(isLarger ? "^" : "")\(size.width),\(size.height)"
        let turn = (geometry.turn.isMirrored ? "!" : "") + "\(geometry.turn.quarters * 90)"
        let suffix = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let format = options.format ?? OutputFormat(urlName: suffix) ?? .jpeg
        return address + iiif.service.prefix + identifier.encoded
            + "/full/\(sizeText)/\(turn)/default.\(format.fileExtension)"
    }
}

extension ProcessingOptions {
    /// Whether these differ from `others` only in size, turn and format, with nothing cut or added.
    fileprivate func saysOnlySizeAndTurn(beside others: ProcessingOptions) -> Bool {
        var rest = self
        rest.resizing = others.resizing
        rest.width = others.width
        rest.height = others.height
        rest.dpr = others.dpr
        rest.enlarge = others.enlarge
        rest.rotation = others.rotation
        rest.flipHorizontally = others.flipHorizontally
        rest.flipVertically = others.flipVertically
        rest.format = others.format
        return rest == others && others.crop == nil && others.extend == nil
            && others.extendAspectRatio == nil && others.padding == Padding()
    }
}
