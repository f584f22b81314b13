import Foundation

extension ImageRequest {
    /// Loads, processes and stores the image; with `announcing`, tells of the task once it has begun.
    func load(announcing: Bool) async throws(KingfisherError) -> RetrieveImageResult {
        let begun: @Sendable () -> Void = { if announcing { taskUpdated?(handle) } }
        switch source {
        case .network(let resource): return try await download(resource, begun: begun)
        case .provider(let provider): return try await provide(provider, begun: begun)
        }
    }

    private func download(_ resource: any Resource, begun: () -> Void)
        async throws(KingfisherError) -> RetrieveImageResult
    {
        let downloader = options.downloader ?? .default
        let outcome: Result<(DownloadedData, Image), KingfisherError> =
            await handedOver { hand in
                downloader.start(
                    url: resource.downloadURL, options: options, progress: progress?.block,
                    viewer: ProgressiveViewer(self), handle: handle, interest: interest
                ) { [options, storesBytesOnly] result in
                    // Straight on to decoding, so that this task is woken once.
                    switch result {
                    case .failure(let error):
                        hand(.failure(error))
                    case .success(let downloaded):
                        downloaded.makeImage(options, rendering: !storesBytesOnly) { image in
                            hand(image.map { (downloaded, $0) })
                        }
                    }
                }
                begun()
            }
        let (downloaded, image) = try outcome.get()
        if storesBytesOnly {
            try await storeBytes(downloaded.data, sharedBy: downloaded.processing)
        } else {
            await store(image, original: downloaded.data, sharedBy: downloaded.processing)
        }
        let bytes = downloaded.data
        return deliver(image, cacheType: .none, metrics: downloaded.metrics) { bytes }
    }

    private func provide(_ provider: any ImageDataProvider, begun: () -> Void)
        async throws(KingfisherError) -> RetrieveImageResult
    {
        let loading = Task { try await provider.data() }
        handle.carryProvider()
        begun()
        guard let outcome = await outcome(of: loading) else { throw cancellation }
        let bytes: Data
        switch outcome {
        case .success(let data): bytes = data
        case .failure(let error):
            throw .imageSettingError(reason: .dataProviderError(provider: provider, error: error))
        }
        let image = try await ImageProcessItem.data(bytes).processed(
            options, rendering: !storesBytesOnly)
        if handle.isCancelled { throw cancellation }
        if storesBytesOnly {
            try await storeBytes(bytes)
        } else {
            await store(image, original: bytes)
        }
        return deliver(image, cacheType: .none) { bytes }
    }
    /// What `loading` ends with; `nil` as soon as the request is cancelled, however long a provider
    /// goes on that does not heed its task's cancellation.
    private func outcome(of loading: Task<Data, any Error>) async -> Result<Data, any Error>? {
        let outcome = await withCheckedContinuation { continuation in
            let answer = FirstAnswer<Result<Data, any Error>?>(continuation)
            handle.onCancel {
                loading.cancel()
                answer.give(nil)
            }
            Task { answer.give(await loading.result) }
        }
        return handle.isCancelled ? nil : outcome
    }
}
