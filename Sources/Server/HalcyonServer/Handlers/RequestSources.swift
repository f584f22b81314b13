import HalcyonWork

/// The kinds of sources that a route accepts.
enum SourceScope: Sendable {
    /// Local files and pictures of other servers.
    case servers
    /// Pictures that were dropped on the page.
    case uploads
}

extension ImageServer {
    func source(
        _ text: String, limit: Int? = nil, from scope: SourceScope, for request: ServerRequest,
        naming: PictureNaming? = nil
    ) async throws(Failure) -> FoundSource {
        switch scope {
        case .servers:
            try await sources.find(
                text, limit: limit, for: asker(of: request), until: request.ending,
                naming: naming)
        case .uploads: try uploads.find(text)
        }
    }

    /// Returns the properties of a request that are sent to the servers of sources.
    func asker(of request: ServerRequest) -> SourceAsker {
        SourceAsker(
            hops: request.hops,
            forwarded: ForwardedFields(
                configuration.sources.http.forwardHeaders, of: request.fields, id: request.id))
    }
}
