import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork

/// A source that was found, before its bytes are needed.
struct FoundSource: Sendable {
    enum Place: Sendable {
        case local([String], LocalSource)
        case remote(RemoteSource)
        case upload(Data)
        /// The operator's own picture, in memory.
        case standing(Data)
    }

    let place: Place
    /// The key for results, together with the validator.
    let key: String
    let validator: String
    let lastModified: Date?
    /// The way it was obtained; `nil` for a local file.
    private(set) var use: RemoteSources.Use?
    /// Whether the fetch was shared with a concurrent request.
    private(set) var isShared = false
    /// The limit for its bytes.
    var limit = Int.max
    var asker = SourceAsker()
    /// Tells of purges since the lookup began.
    var visit: PurgeVisit?
    /// The lookup, at other servers, of the picture to be made of it.
    var glance: PictureGlance?

    private init(_ place: Place, key: String, validator: String, lastModified: Date? = nil) {
        self.place = place
        self.key = key
        self.validator = validator
        self.lastModified = lastModified
    }

    init(_ file: LocalSource.File, in folder: LocalSource) {
        self.init(
            .local(file.path, folder), key: Self.key(ofFile: file.path, in: folder),
            validator: file.validator, lastModified: file.modificationDate)
    }

    init(_ source: RemoteSource, use: RemoteSources.Use, isShared: Bool) {
        self.init(
            .remote(source), key: source.key, validator: source.validator,
            lastModified: source.stored.lastModified)
        self.use = use
        self.isShared = isShared
    }

    /// An upload; its id is unique.
    init(_ upload: Data, id: String) {
        self.init(.upload(upload), key: "upload/\(id)", validator: id)
    }

    init(standing data: Data, digest: String) {
        self.init(.standing(data), key: "standing/" + digest, validator: digest)
    }

    static func key(ofFile path: [String], in folder: LocalSource) -> String {
        "local/\(folder.name)/" + path.joined(separator: "/")
    }

    var isPrivate: Bool {
        if case .upload = place { true } else { false }
    }

    /// Whether it was purged since it was looked for.
    ///
    /// - Parameter origin: What is made of it; `nil` where any purge may mean it.
    func isPurged(_ origin: PictureOrigin? = nil) -> Bool {
        guard let visit else { return false }
        return origin.map(visit.hasForgotten) ?? !visit.isUndisturbed
    }

    /// The URL that it is purged by; empty for uploads and the operator's pictures.
    var url: String {
        switch place {
        case .local(let path, _): "local:///" + path.joined(separator: "/")
        case .remote(let source): source.stored.url.absoluteString
        case .upload, .standing: ""
        }
    }

    /// Distinguishes the found bytes, as far as the validator does not.
    var version: String {
        if case .remote(let source) = place { return String(source.generation) }
        return visit.map { String($0.start) } ?? ""
    }

    /// The source's generation among servers: 0 if no other server knows it, `nil` for a source
    /// without a server.
    var sharedGeneration: Int64? {
        if case .remote(let source) = place { source.sharedGeneration ?? 0 } else { nil }
    }

    /// Seconds since the source's server has sent or confirmed it.
    func age(at now: Date) -> Int? {
        guard case .remote(let source) = place else { return nil }
        return max(0, Int(now.timeIntervalSince(source.stored.received)))
    }

    var originCaching: CacheControlDecision.OriginCaching? {
        guard case .remote(let source) = place else { return nil }
        let stored = source.stored
        let expires = stored.fields.first("Expires").map {
            HTTPDateParser.date($0, now: stored.received) ?? .distantPast
        }
        return CacheControlDecision.OriginCaching(
            cacheControl: stored.fields.values("Cache-Control"),
            expiresAfter: expires.map { $0.timeIntervalSince(stored.date ?? stored.received) })
    }
}

extension SourceReference {
    /// The URL to fetch; `nil` for local files, and for a text that is not a URL.
    var url: URL? {
        switch self {
        case .local: nil
        case .http(let url): URL(string: url.text)
        case .other(_, let text): URL(string: text)
        }
    }
}

/// Finds sources by their text: local files, and pictures of other servers.
struct SourceFinder: Sendable {
    let local: LocalSource?
    let remote: RemoteSources?
    let maxBytes: Int

    let rules: Observed<SourcePolicy>
    let purges: PurgeJournal
    let spans: SpanScope

    var policy: SourcePolicy { rules.value }

    /// - Parameters:
    ///   - limit: A higher limit for this source in bytes.
    ///   - naming: Names the picture to be made of it, which other servers may have.
    func find(
        _ text: String, limit: Int? = nil, for asker: SourceAsker = SourceAsker(),
        until ending: Ending, naming: PictureNaming? = nil
    ) async throws(Failure) -> FoundSource {
        let visit = purges.visit()
        let limit = max(maxBytes, limit ?? 0)
        var source = try await spans.span("halcyon.source") { _ throws(Failure) in
            try await find(text, limit, asker, during: visit, until: ending, naming)
        }
        source.visit = visit
        source.limit = limit
        source.asker = asker
        return source
    }

    private func find(
        _ text: String, _ limit: Int, _ asker: SourceAsker, during visit: PurgeVisit,
        until ending: Ending, _ naming: PictureNaming?
    ) async throws(Failure) -> FoundSource {
        let reference = try Failure.ofPlan { () throws(PlanError) in try policy.reference(text) }
        switch reference {
        case .local(let path):
            guard let local else { throw Self.lost }
            return FoundSource(try await local.find(oneOf: path.candidates), in: local)
        case .http, .other:
            guard let remote, let url = reference.url else { throw Self.lost }
            let found = try await remote.find(
                url, limit: limit, for: asker, during: visit, until: ending, naming: naming)
            var source = FoundSource(found.source, use: found.use, isShared: found.isShared)
            source.glance = found.glance
            return source
        }
    }

    /// Returns the bytes of a source, and its present state: it may have changed since it was
    /// found.
    func bytes(
        of found: FoundSource, until ending: Ending
    ) async throws(Failure) -> (Data, FoundSource) {
        try await spans.span("halcyon.source.read") { _ throws(Failure) in
            try await read(found, until: ending)
        }
    }

    private func read(
        _ found: FoundSource, until ending: Ending
    ) async throws(Failure) -> (Data, FoundSource) {
        switch found.place {
        case .upload(let data), .standing(let data):
            return (data, found)
        case .local(let path, let folder):
            let (data, file) = try await folder.read(path, limit: found.limit)
            return (data, FoundSource(file, in: folder))
        case .remote(let source):
            guard let remote else { throw Self.lost }
            let (data, now) = try await remote.bytes(
                of: source, limit: found.limit, for: found.asker, until: ending)
            return (data, FoundSource(now, use: found.use ?? .fetched, isShared: found.isShared))
        }
    }

    /// Writes the head of a source to the disk, if that was left for its next use.
    func keepOnDisk(_ found: FoundSource) {
        if case .remote(let source) = found.place { remote?.keepOnDisk(source) }
    }

    /// Returns the head to share with other servers after the source was used; `nil` unless it may
    /// be cached.
    func sharedHead(of found: FoundSource) -> SharedPictureHead.Source? {
        guard case .remote = found.place, let now = remote?.known.inMemory(found.key),
            now.validator == found.validator, let generation = now.sharedGeneration
        else { return nil }
        return SharedPictureHead.Source(
            head: SharedHead(now.stored, length: now.size), generation: generation)
    }

    /// The failure for a kind of source that the policy does not allow.
    private static var lost: Failure {
        Failure(.sourceNotAllowed, "There are no sources of this kind")
    }
}
