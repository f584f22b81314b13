import Foundation
import FoundationNetworking
import HalcyonWork

extension FreshnessWalk {
    mutating func ask(
        _ hop: Hop, _ decision: HTTPCacheDecision, copy: Copy?
    ) async throws(KingfisherError) -> Step {
        if hop.isOnlyForCache, !options.forceRefresh { throw notCached }
        let downloaded: LoadedData
        do throws(KingfisherError) {
            downloaded = try await send(hop, decision)
        } catch {
            return try await recover(from: error, hop, copy)
        }
        guard let task = downloaded.task, let answer = task.answer else {
            throw .requestError(reason: .emptyRequest)
        }
        note(
            .answer(
                status: answer.status,
                byteCount: downloaded.metrics?.responseBodyBytesReceived ?? 0),
            hop, answer.received)
        await invalidate(after: hop, answer)
        if let location = answer.redirect {
            wayUse = wayUse.limited(by: .validated)
            return .follow(location, keepRedirect(hop, answer))
        }
        if task.isNotModified(answer.status), let record = hop.record {
            return try await validated(hop, record, answer, downloaded, copy)
        }
        if answer.status == 304 || answer.status == 206 && !hop.asked.fields.contains("Range") {
            // An unexpected 304, or an unrequested partial response.
            throw .status(of: task)
        }
        return .done(try await received(downloaded, answer, hop, copy))
    }

    mutating func send(
        _ hop: Hop, _ decision: HTTPCacheDecision
    ) async throws(KingfisherError) -> LoadedData {
        guard let plain = hop.sent else { throw .requestError(reason: .emptyRequest) }
        let url = hop.asked.url
        switch request.purpose {
        case .delivery: break
        case .prefetch: if let error = await request.waitForServer(of: url) { throw error }
        case .revalidation: if let error = serverPause(hop) { throw error }
        }
        var asked = hop.asked
        if options.forceRefresh, asked.method == "GET", !asked.fields.contains("Cache-Control") {
            asked.fields.append("Cache-Control", "no-cache")
        }
        var sent = plain.setting(policy.fields(toSend: asked, after: decision.unconditional))
        var isConditional = false
        if case .validate = decision,
            // Otherwise a request without a copy is already loading the whole.
            !downloader.downloads.isUnderWay(DownloadKey(sent, isHop: true))
        {
            sent = plain.setting(policy.fields(toSend: asked, after: decision))
            isConditional = true
        }
        let download = DownloadHop(
            request: sent, firstURL: resource.downloadURL, redirectCount: way.count,
            isConditional: isConditional)
        let request = request
        // A revalidation must not take its result from the request that started it.
        let retention = request.purpose == .revalidation ? nil : downloads
        let announces: Bool =
            switch stage {
            case .searching: request.isReplacement || request.preparesLater
            case .foundCopy: true
            case .asked, .startedAgain: false
            }
        stage = max(stage, .asked)
        options.events?.note(.waiting)
        let outcome = await handedOver { hand in
            downloader.start(
                url: resource.downloadURL, options: options, progress: request.progress,
                viewer: request.progressiveViewer, handle: request.handle, retention: retention,
                hop: download, completion: hand)
            if announces { request.taskUpdated?(request.handle) }
        }
        let downloaded = try outcome.get()
        options.events?.note(.transferred(byteCount: downloaded.data.count, downloaded.metrics))
        return downloaded
    }

    /// Handles an error: a stale copy may be used in place of the response.
    mutating func recover(
        from error: KingfisherError, _ hop: Hop, _ copy: Copy?
    ) async throws(KingfisherError) -> Step {
        if error.isCancelled { throw error }
        let now = downloader.now()
        if let record = hop.record, !options.forceRefresh,
            policy.usesStale(record.stored, for: hop.asked, after: error.cacheFailure, now: now)
        {
            if let copy, let result = try await deliver(copy) {
                note(.staleInsteadOfError(error), hop, now)
                record.noteFailure(error, at: now, retryAfter: error.retryAfter(at: now))
                return .done(request.used(.stale(.error(error)), result))
            }
            if let location = await location(hop) {
                // The redirect's target may be cached or reachable.
                wayUse = wayUse.limited(by: .stale(.error(error)))
                return follow(record, to: location)
            }
        }
        if let status = error.statusOfAnswer, status == 404 || status == 410 {
            if let record = hop.record { await remove(record) }
        }
        remember(error, hop, now)
        throw error
    }

    /// Returns whether a response may be stored, by a cache that follows `policy`; by default this
    /// one.
    func storing(
        _ hop: Hop, _ answer: DownloadAnswer, under policy: HTTPCachePolicy? = nil
    ) -> CacheStoring {
        (policy ?? self.policy).storing(
            hop.asked.answered(by: answer), status: answer.status, fields: answer.fields,
            requested: answer.requested, received: answer.received)
    }

    func remember(_ error: KingfisherError, _ hop: Hop, _ now: Date) {
        guard let status = error.statusOfAnswer, let task = request.handle.sessionTask,
            let answer = task.answer, answer.status == status,
            case .store(let stored) = storing(hop, answer),
            let until = policy.rememberedUntil(stored)
        else { return }
        let others = hop.superseded(under: policy)
        guard
            let record = responses.adopt(
                stored, hop.responseKey, body: nil, over: others, under: policy)
        else { return }
        writeAlone(record, until: until, superseding: others)
    }

    func writeAlone(
        _ record: ResponseRecord, until date: Date? = nil, superseding others: [ResponseRecord]
    ) {
        if options.cacheMemoryOnly { return }
        var put = ResponsePut(record, superseding: others)
        if let date { put.row.freshUntil = date.timeIntervalSince1970 }
        responses.writeAlone(record, put)
    }

    /// Requires revalidation of stored responses for the URLs that a request may have changed, in
    /// all its caches.
    func invalidate(after hop: Hop, _ answer: DownloadAnswer) async {
        let urls = policy.invalidations(
            after: hop.asked, status: answer.status, fields: answer.fields)
        guard !urls.isEmpty else { return }
        // The hop's key may be explicit.
        var keys: Set = [CachedResponses.rowKey(hop.responseKey)]
        for url in urls {
            for normalizer in [options.cacheKeyNormalizer, nil] {
                let key = ResponseKey.key(
                    url: url, normalizer: normalizer, partition: options.httpCaching.partition)
                keys.insert(CachedResponses.rowKey(key))
            }
        }
        await DiskLane.writing.run { [keys, caches = request.caches] in
            for cache in caches {
                // Known to this process even if it cannot be written.
                _ = try? cache.responses.invalidate { key, _ in keys.contains(key) }
            }
        }
    }

    /// Handles a `304`: confirms the stored response, or finds a mismatch.
    mutating func validated(
        _ hop: Hop, _ record: ResponseRecord, _ answer: DownloadAnswer,
        _ downloaded: LoadedData, _ copy: Copy?
    ) async throws(KingfisherError) -> Step {
        let freshening = policy.freshen(
            record.stored, with: answer.fields, for: hop.asked.answered(by: answer),
            requested: answer.requested, received: answer.received)
        switch freshening {
        case .mismatch:
            return try await ask(hop, .fetch(because: .stale), copy: copy)
        case .useOnce:
            break
        case .keep(let stored) where stored.leadsToSecrets:
            await remove(record)
        case .keep(let stored):
            let variant = record.variant
            record.freshen(stored, under: policy)
            let isKept = await keep(record, from: variant)
            if case .memory? = copy {} else if !isKept, stage < .startedAgain { return .again }
        }
        if let location = await location(hop) {
            wayUse = wayUse.limited(by: .validated)
            return follow(record, to: location)
        }
        let result: RetrieveImageResult?
        if let copy { result = try await deliver(copy) } else { result = nil }
        if case .useOnce = freshening { await remove(record) }
        guard var result else {
            // The copy has been removed meanwhile.
            return try await ask(hop, .fetch(because: .stale), copy: nil)
        }
        result.metrics = downloaded.metrics
        options.events?.note(.revalidated)
        return .done(request.used(.validated, result))
    }

    /// Removes a response, and all files made from it, from the request's caches.
    func remove(_ record: ResponseRecord) async {
        for cache in request.caches { await cache.responses.remove(record) }
        for file in request.sharedFiles(key) { file.level.remove(file.name) }
    }

    /// Removes the old bytes that `record` replaces from the cache of originals, if that is a
    /// separate cache and the new bytes are not stored there.
    private func removeOldOriginals(_ old: [ResponseRecord], but record: ResponseRecord) async {
        let storesOriginal = options.cacheOriginalImage && request.hasProcessor
        guard request.originalCache !== request.targetCache, !storesOriginal else { return }
        for old in old where old.generation != record.generation {
            await request.originalCache.responses.remove(old)
        }
    }

    /// Writes the row of a freshened response in all caches with files of it.
    func keep(_ record: ResponseRecord, from variant: Data) async -> Bool {
        var isKept = options.cacheMemoryOnly
        for cache in request.caches {
            let isWritten = await cache.responses.writeFreshened(record, from: variant)
            isKept = isKept || isWritten
        }
        return isKept
    }

    mutating func received(
        _ downloaded: LoadedData, _ answer: DownloadAnswer, _ hop: Hop, _ copy: Copy?
    ) async throws(KingfisherError) -> RetrieveImageResult {
        let body = ResponseBody(answer.body)
        let storing = storing(hop, answer)
        let others = hop.superseded(under: policy)
        if case .store(let stored) = storing, let record = hop.record, let copy,
            record.body == body, stored.variant == record.stored.variant,
            let same = responses.adopt(
                stored, hop.responseKey, body: body, over: others, under: policy), same === record
        {
            _ = await keep(record, from: record.variant)
            if var result = try await deliver(copy) {
                result.metrics = downloaded.metrics
                return request.used(.fetched(stored: true), result)
            }
        }
        let image = try await image(of: downloaded)
        if request.handle.isCancelled { throw request.cancellation }
        await settleRedirects()
        var made: ResponseRecord?
        if case .store(let stored) = storing, answer.status == 200 || answer.status == 203 {
            let record = responses.adopt(
                stored, hop.responseKey, body: body, over: others, under: policy)
            if let record {
                made = record
                if case .store = self.storing(hop, answer, under: policy.inRoleOfAll) {
                    record.allowSharing()
                }
                await removeOldOriginals(others, but: record)
                try await store(
                    image, of: downloaded, StatedOrigin(origin(record), superseding: others))
            }
        } else if case .refuse(let refusal) = storing {
            if refusal.concernsTheResponse { for other in others { await remove(other) } }
            // A caller that wants a file gets one; of unknown origin, it is loaded anew the next
            // time.
            if request.goal == .file { try await store(image, of: downloaded, nil) }
        }
        let bytes = downloaded.data
        var result = request.deliver(image, cacheType: .none, metrics: downloaded.metrics) { bytes }
        result.response = made.map(ObjectIdentifier.init)
        return request.used(.fetched(stored: made != nil), result)
    }

    func store(
        _ image: Image, of downloaded: LoadedData, _ stated: StatedOrigin?
    ) async throws(KingfisherError) {
        if request.storesBytesOnly {
            let writing = request.write(downloaded.data, of: downloaded.material, key, stated)
            let written = await writing.value
            // An image can be delivered without its file.
            if request.goal == .file { try written.diskCacheResult.get() }
        } else {
            await request.store(
                image, of: downloaded.material, original: downloaded.data, for: key, stated: stated)
        }
    }

    func image(of downloaded: LoadedData) async throws(KingfisherError) -> Image {
        if request.goal == .file { return ImageRequest.unread }
        let made = await handedOver { hand in
            downloaded.makeImage(
                options, rendering: !request.storesBytesOnly, for: request.handle,
                completion: hand)
        }
        return try made.get()
    }

    func revalidate(_ record: ResponseRecord) {
        if downloader.serverPause(for: record.stored.url) != nil {
            request.onRevalidated?(nil)
        } else {
            downloader.revalidations.begin(record, for: request)
        }
    }
}

extension URLRequest {
    fileprivate func setting(_ fields: HTTPFields) -> URLRequest {
        var request = self
        for line in fields.lines {
            request.setValue(line.value, forHTTPHeaderField: line.name)
        }
        return request
    }
}

extension HTTPCacheRequest {
    /// Returns the request as it was answered: one sent again with credentials, after a challenge,
    /// counts as a request with credentials.
    func answered(by answer: DownloadAnswer) -> HTTPCacheRequest {
        guard let credentials = answer.credentials else { return self }
        var request = self
        request.fields.set("Authorization", to: credentials)
        return request
    }
}

extension StorageRefusal {
    /// Whether the response prohibits storage, rather than the request.
    var concernsTheResponse: Bool {
        switch self {
        case .method, .status, .requestNoStore: false
        default: true
        }
    }
}

extension KingfisherError {
    /// The status of the server's response, if that is the failure.
    var statusOfAnswer: Int? { answer?.statusCode }

    var answer: HTTPURLResponse? {
        guard case .responseError(reason: .invalidHTTPStatusCode(let response)) = self else {
            return nil
        }
        return response
    }

    var cacheFailure: CacheRequestFailure {
        if let statusOfAnswer { return .status(statusOfAnswer) }
        if case .responseError(reason: .URLSessionError(ImageTransportError.pausedByServer)) = self
        {
            return .status(503)
        }
        guard case .responseError(reason: .URLSessionError(let error)) = self,
            let error = error as? ImageTransportError
        else { return .other }
        switch error {
        case .cannotResolveHost, .connectionRefused, .cannotConnect, .timedOut, .connectionReset,
            .incompleteBody:
            return .noAnswer
        default:
            return .other
        }
    }

    /// The server's demanded pause, in seconds.
    func retryAfter(at now: Date) -> TimeInterval? {
        guard let answer else { return nil }
        return RetryAfter.delay(
            status: answer.statusCode, fields: HTTPFields(answer), received: now)
    }

    fileprivate static func status(of task: SessionDataTask) -> KingfisherError {
        guard let response = task.response else { return .requestError(reason: .emptyRequest) }
        return .responseError(reason: .invalidHTTPStatusCode(response: response))
    }

    /// The error of a remembered response, equal to the original one.
    static func remembered(_ stored: StoredResponse) -> KingfisherError {
        guard let response = try? AnswerHead(stored).response else {
            return .requestError(reason: .emptyRequest)
        }
        return .responseError(reason: .invalidHTTPStatusCode(response: response))
    }
}
