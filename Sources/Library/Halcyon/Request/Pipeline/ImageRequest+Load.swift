import Foundation
import HalcyonWork

extension ImageRequest {
    typealias Loaded = (image: Image, data: LoadedData)

    /// A hold on results of other requests for an attempt, until it is released.
    struct Retention: Sendable {
        enum Loading: Sendable {
            case download(any Resource, ImageDownloader, Downloads.Retention)
            case provider(any ImageDataProvider, DataProviders.Table.Retention)
        }

        let loading: Loading
        let original: OriginalRetention?

        func release() {
            switch loading {
            case .download(_, let downloader, let retention):
                downloader.downloads.release(retention)
            case .provider(_, let retention): DataProviders.loads.release(retention)
            }
            original?.release()
        }
    }

    func retain() -> Retention {
        let loading: Retention.Loading
        switch source {
        case .network(let resource):
            let downloader = downloader
            let retention = downloader.downloads.retain(resource.downloadURL)
            loading = .download(resource, downloader, retention)
        case .provider(let provider):
            let retention = DataProviders.loads.retain(
                DataProviders.Key(provider, for: targetCache))
            loading = .provider(provider, retention)
        }
        let original =
            mayHaveOriginal
            ? originalCache.retainOriginal(originalKey, options: originalOptions) : nil
        return Retention(loading: loading, original: original)
    }

    /// Loads the bytes and makes the image from them; with `announcing`, reports the task once it
    /// has begun. If only the bytes are wanted, returns when they are on disk.
    func load(_ key: ImageKey, during retention: Retention, announcing: Bool)
        async throws(KingfisherError) -> Loaded
    {
        let outcome = OneShot<Result<Loaded, KingfisherError>>()
        options.events?.note(.waiting)
        switch retention.loading {
        case .download(let resource, let downloader, _) where downloader.isSubclass:
            download(resource, byOverrideOf: downloader, to: outcome)
        case .download(let resource, let downloader, let retention):
            download(resource, by: downloader, during: retention, to: outcome)
        case .provider(let provider, let retention):
            provide(provider, during: retention, to: outcome)
        }
        if announcing { taskUpdated?(handle) }
        return try await (storesBytesOnly ? written(outcome, for: key) : outcome).value.get()
    }

    /// Writes loaded bytes right after the load, so that the request is woken only once.
    private func written(
        _ loading: OneShot<Result<Loaded, KingfisherError>>, for key: ImageKey
    ) -> OneShot<Result<Loaded, KingfisherError>> {
        let writing = OneShot<Result<Loaded, KingfisherError>>()
        loading.whenGiven { [self] result in
            guard case .success(let loaded) = result else {
                writing.give(result)
                return
            }
            if handle.isCancelled {
                writing.give(.failure(cancellation))
                return
            }
            write(loaded.data.data, of: loaded.data.material, key, nil).whenGiven { stored in
                if case .success = stored.diskCacheResult { options.events?.note(.stored(.disk)) }
                writing.give(stored.diskCacheResult.map { loaded })
            }
        }
        return writing
    }

    private func download(
        _ resource: any Resource, by downloader: ImageDownloader,
        during retention: Downloads.Retention,
        to outcome: OneShot<Result<Loaded, KingfisherError>>
    ) {
        downloader.start(
            url: resource.downloadURL, options: options, progress: progress,
            viewer: progressiveViewer, handle: handle, retention: retention
        ) { [self] result in
            // Decodes directly, so that the request is woken only once.
            switch result {
            case .failure(let error): outcome.give(.failure(error))
            case .success(let loaded): make(of: loaded, to: outcome)
            }
        }
    }

    /// The display of a progressive JPEG during the download; `nil` if there is none.
    var progressiveViewer: ProgressiveViewer? {
        guard let progressive = options.progressiveJPEG, let consumer = progressiveConsumer else {
            return nil
        }
        return ProgressiveViewer(
            progressive, options: options, isCurrent: isCurrent, consumer: consumer)
    }

    /// Downloads with a subclass, through the method that it may override.
    private func download(
        _ resource: any Resource, byOverrideOf downloader: ImageDownloader,
        to outcome: OneShot<Result<Loaded, KingfisherError>>
    ) {
        var options = options
        options.callbackQueue = .untouch
        options.watcher = (progress: progress, viewer: progressiveViewer)
        handle.adopt(options.downloadPriority)
        let task = downloader.downloadImage(with: resource.downloadURL, options: options) {
            outcome.give(
                $0.map {
                    (image: $0.image, data: LoadedData($0.originalData, metrics: $0.metrics))
                })
        }
        handle.follow(task)
        handle.onCancel(before: outcome) { [self] in outcome.give(.failure(cancellation)) }
    }

    private func provide(
        _ provider: any ImageDataProvider, during retention: DataProviders.Table.Retention,
        to outcome: OneShot<Result<Loaded, KingfisherError>>
    ) {
        let key = DataProviders.Key(provider, for: targetCache)
        let ticket = DataProviders.loads.ask(for: key, during: retention) { [self] loaded in
            switch loaded {
            case .failure(let error):
                outcome.give(
                    .failure(
                        .imageSettingError(
                            reason: .dataProviderError(provider: provider, error: error))))
            case .success(let loaded):
                make(of: loaded, to: outcome)
            }
        } work: { work, finish in
            let loading = Task {
                do {
                    finish(.success(LoadedData(try await provider.data())))
                } catch {
                    finish(.failure(error))
                }
            }
            work.onStop { loading.cancel() }
        }
        handle.carryProvider()
        // At once, even if the provider ignores the cancellation and goes on.
        guard let ticket else { return }
        handle.onCancel(before: outcome) { [self] in
            if DataProviders.loads.leave(ticket) != nil { outcome.give(.failure(cancellation)) }
        }
    }

    private func make(
        of loaded: LoadedData, to outcome: OneShot<Result<Loaded, KingfisherError>>
    ) {
        options.events?.note(.transferred(byteCount: loaded.data.count, loaded.metrics))
        loaded.makeImage(
            options, rendering: !storesBytesOnly, for: handle, cancellation: { cancellation }
        ) { image in
            outcome.give(image.map { (image: $0, data: loaded) })
        }
    }
}

/// The running data providers, for all requests of the program.
enum DataProviders {
    /// Providers with equal type, key and cache give the same data. In another cache the key may
    /// have another meaning.
    struct Key: Hashable, Sendable {
        private let cacheKey: String
        private let type: ObjectIdentifier
        private let cache: ObjectIdentifier

        init(_ provider: any ImageDataProvider, for cache: ImageCache) {
            cacheKey = provider.cacheKey
            type = ObjectIdentifier(Swift.type(of: provider))
            self.cache = ObjectIdentifier(cache)
        }
    }

    typealias Table = SharedWork<Key, Result<LoadedData, any Error>>

    static let loads = Table { if case .success = $0 { true } else { false } }
}

extension ImageRequest {
    /// Runs attempts until one succeeds or none is left; returns the image to deliver, or the
    /// error.
    consuming func run() async -> Result<RetrieveImageResult, KingfisherError> {
        var attempt = self
        let announcement = attempt.options.makeAnnouncement()
        if announcement != nil { attempt.options.announcement = announcement }
        var result: Result<RetrieveImageResult, KingfisherError>
        do throws(KingfisherError) {
            result = .success(try await attempt.image())
        } catch {
            result = await Result { () async throws(KingfisherError) in
                try await attempt.recovered(from: error)
            }
        }
        // Unless the size was already known from the first bytes.
        if let announcement, case .success(let value) = result {
            announcement.tell(value.image.pixelSize)
        }
        if let events = attempt.options.events { events.note(end: result) }
        return result
    }

    /// Returns the result of further attempts, after this one, the first, has failed.
    private func recovered(
        from failure: KingfisherError
    ) async throws(KingfisherError) -> RetrieveImageResult {
        var attempt = self
        var recovery = FailureRecovery(attempt.options)
        var context: RetryContext?
        var error = failure
        while true {
            attempt = try await attempt.next(after: error, &recovery, &context)
            do throws(KingfisherError) {
                return try await attempt.image()
            } catch let failure {
                error = failure
            }
        }
    }

    /// Returns the attempt after this one, which ended with `error`. Throws the request's error if
    /// there is none.
    private func next(
        after error: KingfisherError, _ recovery: inout FailureRecovery,
        _ context: inout RetryContext?
    ) async throws(KingfisherError) -> ImageRequest {
        guard isCurrent?() ?? true else { throw error }
        if !handle.hasRememberedError, !error.isCancelled, let strategy = recovery.retryStrategy {
            let history = context ?? RetryContext(source: originalSource, error: error)
            history.error = error
            context = history
            let decision = await decision(of: strategy, on: history)
            if handle.isCancelled { throw cancellation }
            if case .retry(let userInfo) = decision, isCurrent?() ?? true {
                history.willRetry(userInfo: userInfo)
                return replacement(loading: source)
            }
        }
        switch recovery.fallback(after: error, of: source) {
        case .load(let source): return replacement(loading: source)
        case .fail(let error): throw error
        }
    }

    /// Makes an attempt with a task of its own, which is cancelled with the request.
    private func replacement(loading source: Source) -> ImageRequest {
        var next = self
        options.events?.note(.retried(source))
        next.source = source.pinned
        next.imageKey = nil
        next.handle = handle.makeSuccessor()
        next.isReplacement = true
        // The low-data fallback has already been reported.
        next.options.lowDataModeSource = nil
        return next
    }

    /// Returns the decision of `strategy`; `nil` if the request is cancelled meanwhile.
    private func decision(of strategy: any RetryStrategy, on context: RetryContext) async
        -> RetryDecision?
    {
        let answer = OneShot<RetryDecision?>()
        handle.onCancel(before: answer) { answer.give(nil) }
        strategy.retry(context: context) { answer.give($0) }
        return await answer.value
    }
}

/// Decides the next step after a failed attempt of a request: a pure value, so that the order can
/// be read (and tested) without a network.
///
/// The order: cancelled → retry strategy → low-data source → next alternative → the error.
struct FailureRecovery: Sendable {
    enum Fallback: Sendable {
        case load(Source)
        case fail(KingfisherError)
    }

    let retryStrategy: (any RetryStrategy)?
    private var lowDataSource: Source?
    private var alternatives: [Source]
    private var propagated: [PropagationError] = []

    init(_ options: KingfisherParsedOptionsInfo) {
        retryStrategy = options.retryStrategy
        lowDataSource = options.lowDataModeSource
        alternatives = options.alternativeSources ?? []
    }

    /// Returns the next step if `source` failed with `error` and is not retried.
    mutating func fallback(after error: KingfisherError, of source: Source) -> Fallback {
        if error.isCancelled { return .fail(error) }
        if case .responseError(reason: .URLSessionError(ImageTransportError.lowDataMode)) = error,
            let source = lowDataSource
        {
            lowDataSource = nil
            return .load(source)
        }
        if !alternatives.isEmpty {
            propagated.append(PropagationError(source: source, error: error))
            return .load(alternatives.removeFirst())
        }
        if propagated.isEmpty { return .fail(error) }
        let all = propagated + [PropagationError(source: source, error: error)]
        return .fail(.imageSettingError(reason: .alternativeSourcesExhausted(all)))
    }
}
