import HalcyonWork

/// Which sources a route knows.
enum SourceScope: Sendable {
    /// Files of this machine and pictures of other servers.
    case servers
    /// What people have dropped on the page.
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

    /// What the servers of sources learn of a request.
    func asker(of request: ServerRequest) -> SourceAsker {
        SourceAsker(
            hops: request.hops,
            forwarded: ForwardedFields(
                configuration.sources.http.forwardHeaders, of: request.fields, id: request.id))
    }
}
