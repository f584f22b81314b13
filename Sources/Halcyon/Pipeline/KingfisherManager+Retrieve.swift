extension KingfisherManager {
    /// Gets an image from the cache, or loads, processes and caches it.
    ///
    /// - Parameters:
    ///   - resource: What to load; a file URL is read as a file.
    ///   - options: After the manager's default options, which they win over.
    ///   - progressBlock: Called on the main queue as bytes arrive, when their total is known.
    ///   - downloadTaskUpdated: Called when the returned task is replaced by another one, before that
    ///     one completes.
    ///   - completionHandler: Called exactly once, on the `callbackQueue` of the options.
    /// - Returns: The running load; `nil` when the image comes from the cache, or when no load has
    ///   begun yet because the request modifier is asynchronous.
    @discardableResult
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        retrieveImage(
            with: resource.convertToSource(), options: options, progressBlock: progressBlock,
            downloadTaskUpdated: downloadTaskUpdated, completionHandler: completionHandler)
    }

    /// Gets an image from the cache, or loads, processes and caches it; see the form for resources.
    @discardableResult
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        let parsed = parsedOptions(options)
        let request = ImageRequest(
            source: source, options: parsed, progress: MainQueueProgress(progressBlock),
            taskUpdated: downloadTaskUpdated,
            probing: parsed.asyncCacheTypeCheck ? .onItsOwnThread : .onCallingThread)
        // Runs on this thread up to the first wait, so that a memory hit is delivered, and a download
        // started, before this returns.
        Task.immediate {
            let result = await request.run()
            if let completionHandler {
                parsed.callbackQueue.execute { completionHandler(result) }
            }
        }
        return parsed.asyncCacheTypeCheck || request.handle.isInitialized ? request.handle : nil
    }

    /// Gets an image from the cache, or loads, processes and caches it.
    ///
    /// A memory hit returns without suspending. Cancelling the surrounding task cancels the request.
    /// - Throws: `KingfisherError`; `CancellationError` when the task was cancelled beforehand.
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        try await retrieveImage(
            with: resource.convertToSource(), options: options, progressBlock: progressBlock)
    }

    /// Gets an image from the cache, or loads, processes and caches it; see the form for resources.
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        try Task.checkCancellation()
        let request = ImageRequest(
            source: source, options: parsedOptions(options),
            progress: MainQueueProgress(progressBlock), probing: .onItsOwnThread)
        let handle = request.handle
        return try await withTaskCancellationHandler {
            try await request.run().get()
        } onCancel: {
            handle.cancel()
        }
    }
}
