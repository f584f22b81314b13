import Foundation
import HalcyonWork

extension ImageRequest {
    /// The image, with the loaded bytes.
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
