import HalcyonHTTP

struct RequestSources: Sendable {
    let finder: SourceFinder
    let forwardedFields: [String]
    /// Whether other servers may have pictures of sources that are not known here.
    let sharesPictures: Bool

    /// - Parameters:
    ///   - uploads: Pictures that were dropped on the page. If set, they are the only sources.
    ///   - limit: A higher limit for this source in bytes.
    ///   - naming: Names the picture to be made of it, which other servers may have.
    func find(
        _ text: String, in uploads: PageUploads?, limit: Int? = nil, for request: ServerRequest,
        naming: PictureNaming? = nil
    ) async throws(Failure) -> FoundSource {
        if let uploads { return try uploads.find(text) }
        return try await finder.find(
            text, limit: limit, for: asker(of: request), until: request.ending, naming: naming)
    }

    /// Returns the properties of a request that are sent to the servers of sources.
    func asker(of request: ServerRequest) -> SourceAsker {
        SourceAsker(
            hops: request.hops,
            forwarded: ForwardedFields(forwardedFields, of: request.fields, id: request.id))
    }
}
