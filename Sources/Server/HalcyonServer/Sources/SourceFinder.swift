import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork

/// A source that was found: what is known of it before its bytes are needed.
struct FoundSource: Sendable {
    enum Place: Sendable {
        case local([String], LocalSource)
        case remote(RemoteSource)
        case upload(Data)
        /// The operator's own, at hand.
        case standing(Data)
    }

    let place: Place
    /// What results are found by, together with what changes with the content.
    let key: String
    let validator: String
    let lastModified: Date?
    /// How it was had; `nil` for a file of this machine.
    let use: RemoteSources.Use?
    /// Whether somebody else had asked for it at the same time.
    let isShared: Bool
    /// Bytes that it may have.
    var limit = Int.max
    var asker = SourceAsker()
    /// Knows what has been purged since it was looked for.
    var visit: PurgeVisit?
    /// A look for the picture that is to be made of it, at other servers.
    var glance: PictureGlance?

    init(_ file: LocalSource.File, in folder: LocalSource) {
        place = .local(file.path, folder)
        key = Self.key(ofFile: file.path, in: folder)
        validator = file.validator
        lastModified = file.modificationDate
        use = nil
        isShared = false
    }

    init(_ source: RemoteSource, use: RemoteSources.Use, isShared: Bool) {
        place = .remote(source)
        key = source.key
        validator = source.validator
        lastModified = source.stored.lastModified
        self.use = use
        self.isShared = isShared
    }

    /// An upload, which has its name for itself.
    init(_ upload: Data, id: String) {
        place = .upload(upload)
        key = "upload/\(id)"
        validator = id
        lastModified = nil
        use = nil
        isShared = false
    }

    /// - Parameter digest: Of the bytes.
    init(standing data: Data, digest: String) {
        place = .standing(data)
        key = "standing/" + digest
        validator = digest
        lastModified = nil
        use = nil
        isShared = false
    }

    /// What results of a file are found by.
    static func key(ofFile path: [String], in folder: LocalSource) -> String {
        "local/\(folder.name)/" + path.joined(separator: "/")
    }

    /// Whether nothing made of it is kept.
    var isPrivate: Bool {
        if case .upload = place { true } else { false }
    }

    /// The URL that it is purged by; empty for what is no file and of no server.
    var url: String {
        switch place {
        case .local(let path, _): "local:///" + path.joined(separator: "/")
        case .remote(let source): source.stored.url.absoluteString
        case .upload, .standing: ""
        }
    }

    /// Names the bytes that were found, as far as they are not named by the validator.
    var version: String {
        if case .remote(let source) = place { return String(source.generation) }
        return visit.map { String($0.start) } ?? ""
    }

    /// That among servers: 0 for a source of which no other one knows, `nil` for what is no server's.
    var sharedGeneration: Int64? {
        if case .remote(let source) = place { source.sharedGeneration ?? 0 } else { nil }
    }

    /// Seconds since the source's server has spoken of it.
    func age(at now: Date) -> Int? {
        guard case .remote(let source) = place else { return nil }
        return max(0, Int(now.timeIntervalSince(source.stored.received)))
    }

    /// What its server says of caching.
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
    /// What is fetched; `nil` for files of this machine, and for what is no URL.
    var url: URL? {
        switch self {
        case .local: nil
        case .http(let url): URL(string: url.text)
        case .other(_, let text): URL(string: text)
        }
    }
}

/// Finds sources by their text: files of this machine, and pictures of other servers.
struct SourceFinder: Sendable {
    let local: LocalSource?
    let remote: RemoteSources?
    /// Bytes that a source may have.
    let maxBytes: Int

    /// Which URLs may be fetched.
    let rules: SourceRules
    let purges: PurgeJournal
    let spans: SpanScope

    var policy: SourcePolicy { rules.policy }

    /// - Parameters:
    ///   - limit: Bytes that the source may have, where these are more than for others.
    ///   - naming: What picture is to be made of it; other servers may have that.
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

    /// The bytes of a source, and what it is now: it may have changed since it was found.
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
        case .upload(let data):
            return (data, found)
        case .local(let path, let folder):
            let (data, file) = try await folder.read(path, limit: found.limit)
            return (data, FoundSource(file, in: folder))
        case .remote(let source):
            guard let remote else { throw Self.lost }
            let (data, now) = try await remote.bytes(
                of: source, limit: found.limit, for: found.asker, until: ending)
            return (data, FoundSource(now, use: found.use ?? .fetched, isShared: found.isShared))
        case .standing(let data): return (data, found)
        }
    }

    /// Has what is known of a source on the disk, too, if that was left for its next use.
    func keepOnDisk(_ found: FoundSource) {
        if case .remote(let source) = found.place { remote?.keepOnDisk(source) }
    }

    /// What other servers may know of a source now that something was made of it; `nil` unless it may be kept.
    func sharedHead(of found: FoundSource) -> SharedPictureHead.Source? {
        guard case .remote = found.place, let now = remote?.known.inMemory(found.key),
            now.validator == found.validator, let generation = now.sharedGeneration
        else { return nil }
        return SharedPictureHead.Source(
            head: SharedHead(now.stored, length: now.size), generation: generation)
    }

    /// A source of a kind that the policy does not let through.
    private static var lost: Failure {
        Failure(.sourceNotAllowed, "There are no sources of this kind")
    }
}
