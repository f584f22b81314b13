import Foundation
import FoundationNetworking

/// A request's way to an image by the rules of HTTP caching, from redirect to redirect: the stored
/// response of each hop determines whether a request is sent, and the meaning of its response.
struct FreshnessWalk {
    enum Step {
        case done(RetrieveImageResult)
        /// A redirect, with its record when it is stored.
        case follow(URLRequest, ResponseRecord?)
        /// The basis of the decision has changed meanwhile.
        case again
    }

    enum Stage: Comparable {
        /// Only the caches have been read.
        case searching
        /// A copy seemed to exist, so the caller was not given a task.
        case foundCopy
        /// A request has been sent.
        case asked
        /// The walk was restarted once, because the basis of its decision had changed.
        case startedAgain
    }

    let request: ImageRequest
    let resource: any Resource
    let downloads: Downloads.Retention
    let key: ImageKey
    let retention: ImageRequest.Retention
    let policy: HTTPCachePolicy
    /// The next request; `nil` if the modifier returned none.
    var next: URLRequest?
    /// The redirects followed so far; `nil` for one that is not stored.
    var way: [ResponseRecord?] = []
    /// Redirects received in place of other stored responses, which stay until they have led to an
    /// image.
    var replacements: [RedirectReplacement] = []
    /// The use of the redirects followed so far; `validated` if one was requested from the server.
    var wayUse = HTTPCacheUse.fresh
    var stage = Stage.searching

    var options: KingfisherParsedOptionsInfo { request.options }
    var downloader: ImageDownloader { request.downloader }
    var responses: CachedResponses { request.targetCache.responses }

    mutating func image() async throws(KingfisherError) -> RetrieveImageResult {
        while true {
            let hop = await hop()
            switch try await step(hop) {
            case .done(var result):
                await settleRedirects()
                result.httpCacheUse = result.httpCacheUse?.limited(by: wayUse)
                if result.response == nil {
                    result.response = hop.record.map(ObjectIdentifier.init)
                }
                return result
            case .again:
                stage = .startedAgain
            case .follow(let next, let record):
                way.append(record)
                guard way.count <= Transfer.redirectLimit else {
                    throw .transport(
                        ImageTransportError.tooManyRedirects(
                            url: resource.downloadURL.absoluteString,
                            limit: Transfer.redirectLimit))
                }
                self.next = next
            }
            try request.checkStillWanted()
        }
    }

    // MARK: One hop

    struct Hop {
        /// `nil` if there is nothing to send.
        let sent: URLRequest?
        let asked: HTTPCacheRequest
        let responseKey: String
        let records: [ResponseRecord]
        let selection: CacheSelection
        let record: ResponseRecord?

        var isOnlyForCache: Bool { CacheControlDirectives(of: asked.fields).onlyIfCached }

        func superseded(under policy: HTTPCachePolicy) -> [ResponseRecord] {
            records.filter { policy.matches($0.stored, asked) }
        }
    }

    private func hop() async -> Hop {
        let url = next?.url ?? resource.downloadURL
        var asked = HTTPCacheRequest(next, to: url)
        if options.onlyFromCache, !options.forceRefresh {
            // The equivalent of the option in HTTP.
            asked.fields.append("Cache-Control", "only-if-cached, max-stale")
        }
        let responseKey =
            way.isEmpty
            ? request.firstResponseKey(url, resource)
            : ResponseKey.key(
                url: url, normalizer: options.cacheKeyNormalizer,
                partition: options.httpCaching.partition)
        let records = await request.onDisk { [policy, request, responses] in
            let own = responses.read(responseKey, under: policy)
            let others = request.originalCache.responses
            return own.isEmpty && others !== responses
                ? others.read(responseKey, under: policy) : own
        }
        let selection = policy.select(asked, among: records.map(\.stored))
        var record: ResponseRecord?
        if case .response(_, let index) = selection { record = records[index] }
        return Hop(
            sent: next, asked: asked, responseKey: responseKey, records: records,
            selection: selection, record: record)
    }

    private mutating func step(_ hop: Hop) async throws(KingfisherError) -> Step {
        let now = downloader.now()
        if options.forceRefresh {
            note(.decision(.fetch(because: .requestNoCache), hasCopy: false), hop, now)
            return try await ask(hop, .fetch(because: .requestNoCache), copy: nil)
        }
        if let record = hop.record, record.stored.status >= 400 {
            if policy.answersWithRemembered(record.stored, hop.asked, now: now) {
                note(.rememberedError(status: record.stored.status), hop, now)
                request.handle.noteRememberedError()
                throw .remembered(record.stored)
            }
            if hop.isOnlyForCache { throw notCached }
            note(.decision(.fetch(because: .stale), hasCopy: false), hop, now)
            return try await ask(hop, .fetch(because: .stale), copy: nil)
        }
        var decision = policy.decide(hop.asked, with: hop.selection, now: now)
        if let record = hop.record, let location = await location(hop) {
            // A redirect needs no other copy.
            note(.decision(decision, hasCopy: true), hop, now)
            return try await redirect(hop, decision, record, to: location)
        }
        // No caller is waiting for the image.
        if case .useStale(revalidate: true) = decision, request.purpose != .delivery {
            decision = hop.record?.stored.revalidation(because: .stale) ?? decision
        }
        if case .unsatisfiable = decision {
            note(.decision(decision, hasCopy: false), hop, now)
            throw notCached
        }
        let copy = await copy(of: hop.record)
        note(.decision(decision, hasCopy: copy != nil), hop, now)
        if copy != nil {
            stage = max(stage, .foundCopy)
            if let record = hop.record { responses.noteUse(record) }
        }
        switch decision {
        case .use:
            if let copy, let result = try await deliver(copy) {
                return .done(request.used(.fresh, result))
            }
        case .useStale(let revalidates):
            if let copy, let record = hop.record, let result = try await deliver(copy) {
                if revalidates { revalidate(record) }
                return .done(
                    request.used(.stale(revalidates ? .revalidating : .accepted), result))
            }
        case .validate, .fetch, .unsatisfiable:
            if let copy, let result = try await pausing(hop, copy, now) { return .done(result) }
            if let copy, let result = try await offline(hop, copy, now) { return .done(result) }
            if copy != nil { return try await ask(hop, decision, copy: copy) }
        }
        // Without a copy a `304` would be useless.
        return try await ask(hop, decision.unconditional, copy: nil)
    }

    func note(_ kind: HTTPCacheEvent.Kind, _ hop: Hop, _ now: Date) {
        downloader.cacheLog.note {
            let stored = hop.record.map(\.stored)
            let freshness = stored.map(policy.freshness(of:))
            return HTTPCacheEvent(
                key: hop.responseKey, kind: kind,
                freshness: freshness.map { ($0.age(at: now), $0.lifetime) })
        }
    }

    var notCached: KingfisherError {
        .cacheError(reason: .imageNotExisting(key: request.key))
    }

    /// Returns a stale copy during a pause after an error.
    private func pausing(
        _ hop: Hop, _ copy: Copy, _ now: Date
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        guard let record = hop.record, request.purpose != .prefetch,
            let error = record.pausingError(at: now) ?? serverPause(hop),
            policy.usesStale(record.stored, for: hop.asked, after: error.cacheFailure, now: now),
            let result = try await deliver(copy)
        else { return nil }
        note(.staleInsteadOfError(error), hop, now)
        return request.used(.stale(.error(error)), result)
    }

    /// Returns a stale copy while there is no network, so that the caller need not wait for a
    /// certain failure.
    private func offline(
        _ hop: Hop, _ copy: Copy, _ now: Date
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        guard let record = hop.record, request.purpose == .delivery,
            policy.usesStale(record.stored, for: hop.asked, after: .noAnswer, now: now),
            let host = hop.asked.url.host, !downloader.network.reaches(host),
            let result = try await deliver(copy)
        else { return nil }
        downloader.revalidations.begin(record, for: request, awaitingNetwork: true)
        return request.used(.stale(.revalidating), result)
    }

    func serverPause(_ hop: Hop) -> KingfisherError? {
        let url = hop.asked.url
        return downloader.serverPause(for: url).map {
            .transport(ImageTransportError.pausedByServer(url: url.absoluteString, until: $0))
        }
    }

    private mutating func redirect(
        _ hop: Hop, _ decision: HTTPCacheDecision, _ record: ResponseRecord, to location: URLRequest
    ) async throws(KingfisherError) -> Step {
        switch decision {
        case .use where !way.contains { $0 === record }:
            return follow(record, to: location)
        case .useStale(revalidate: false):
            wayUse = wayUse.limited(by: .stale(.accepted))
            return follow(record, to: location)
        case .unsatisfiable:
            throw notCached
        case .useStale:
            return try await ask(hop, record.stored.revalidation(because: .stale), copy: nil)
        case .use, .validate, .fetch:
            return try await ask(hop, decision, copy: nil)
        }
    }

    // MARK: Copies

    /// The location of the current response's image, or of its original, in the cache.
    enum Copy {
        case memory(Image)
        case disk(ImageOrigin)
        case original(ImageOrigin)
    }

    func origin(_ record: ResponseRecord) -> ImageOrigin {
        ImageOrigin(record: record, way: way)
    }

    func copy(of record: ResponseRecord?) async -> Copy? {
        guard let record, record.generation != 0 else { return nil }
        if let copy = await ownCopy(of: record) { return copy }
        return await copyUnderOtherKey(of: record)
    }

    private func ownCopy(of record: ResponseRecord) async -> Copy? {
        let cache = request.targetCache
        let origin = origin(record)
        var other: Image?
        if let (image, noted) = cache.originatedImage(forKey: request.key, options: options),
            noted?.record === record
        {
            if let noted, !noted.isSameWay(as: origin) {
                cache.storeInMemory(image, for: key, options: options, origin: origin)
            }
            if let wanted = request.asWanted(image) { return .memory(wanted) }
            other = image
        }
        if let original = await original(of: record, origin, hasOther: other != nil) {
            return original
        }
        // Nothing may be loaded in its place.
        return options.onlyFromCache ? other.map(Copy.memory) : nil
    }

    /// The file, or the original. With `hasOther` the cached image was made with other options.
    private func original(
        of record: ResponseRecord, _ origin: ImageOrigin, hasOther: Bool
    ) async -> Copy? {
        let cache = request.targetCache
        if options.fromMemoryCacheOrRefresh { return nil }
        if !hasOther, record.isOrigin(of: await request.fileOrigin(key, in: cache)) {
            return .disk(origin)
        }
        guard request.mayHaveOriginal else { return nil }
        let (originals, plain) = (request.originalCache, request.originalOptions)
        if originals.memoryImage(request.originalKey, options: plain, of: origin) != nil {
            return .original(origin)
        }
        let file = await request.fileOrigin(request.originalKey, in: originals)
        return record.isOrigin(of: file) ? .original(origin) : nil
    }

    /// Returns a copy of the response under another key: that of another spelling of the URL, or of
    /// a redirect to it. It is also stored under this request's key.
    private func copyUnderOtherKey(of record: ResponseRecord) async -> Copy? {
        let (cache, origin) = (request.targetCache, origin(record))
        if !request.storesBytesOnly {
            for other in record.imageKeys where other != request.key {
                let other = ImageKey(other, options)
                guard let image = cache.memoryImage(other, options: options, of: origin) else {
                    continue
                }
                cache.storeInMemory(image, for: key, options: options, origin: origin)
                return .memory(image)
            }
        }
        if options.fromMemoryCacheOrRefresh || options.cacheMemoryOnly { return nil }
        if await request.bringFromOtherKey(key, of: origin, record, in: cache) {
            return .disk(origin)
        }
        guard request.mayHaveOriginal, key != request.originalKey || cache !== request.originalCache
        else { return nil }
        let isBrought = await request.bringFromOtherKey(
            request.originalKey, of: origin, record, in: request.originalCache)
        return isBrought ? .original(origin) : nil
    }

    /// - Returns: The result; `nil` if the copy has been removed, or is damaged.
    func deliver(_ copy: Copy) async throws(KingfisherError) -> RetrieveImageResult? {
        let result: RetrieveImageResult?
        switch copy {
        case .memory(let image):
            // Also if stale: the index was read on the calling thread.
            let isImmediate =
                request.probing == .onCallingThread && !request.preparesLater
                && !request.isReplacement && stage < .asked
            result = await request.deliverCached(
                image, from: .memory, isImmediate: isImmediate)
        case .disk where request.storesBytesOnly:
            result = request.unreadResult
        case .disk(let origin):
            result = try await request.cached(key, of: origin)
        case .original(let origin):
            result = try await request.made(of: origin, key, retention)
        }
        if result != nil {
            switch copy {
            case .memory: options.events?.note(.found(.memory))
            case .disk: options.events?.note(.found(.disk))
            // The reader of the original has done so.
            case .original: break
            }
            if request.isReplacement, stage < .asked { request.taskUpdated?(nil) }
        }
        return result
    }
}

extension HTTPCacheDecision {
    /// The decision without a condition, for requests that could not use a `304`.
    var unconditional: HTTPCacheDecision {
        if case .validate(_, let reason) = self { .fetch(because: reason) } else { self }
    }
}
