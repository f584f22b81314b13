extension KingfisherManager {
    /// Loads a set of images, in parallel, that is only of use when it is complete; the parameters are
    /// those of the form with a handler.
    ///
    /// Cancelling the surrounding task cancels the whole set.
    /// - Throws: The failure that came first, as `KingfisherError`; it cancels the other loads.
    ///   `CancellationError` when the task was cancelled beforehand.
    public func retrieveImages(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil
    ) async throws -> [RetrieveImageResult] {
        try Task.checkCancellation()
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: true, progressBlock)
        return try await load.task.handle.cancelled { try await load.images().get() }
    }

    /// Loads a set of images that is only of use when it is complete; see the form for sources.
    public func retrieveImages(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil
    ) async throws -> [RetrieveImageResult] {
        try await retrieveImages(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock)
    }

    /// Loads a set of images, in parallel, of which some may fail.
    ///
    /// Cancelling the surrounding task cancels the whole set.
    /// - Returns: What became of each source, in their order.
    public func retrieveEachImage(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil
    ) async -> [Result<RetrieveImageResult, KingfisherError>] {
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: false, progressBlock)
        return await load.task.handle.cancelled { await load.run().outcomes }
    }

    /// Loads a set of images of which some may fail; see the form for sources.
    public func retrieveEachImage(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil
    ) async -> [Result<RetrieveImageResult, KingfisherError>] {
        await retrieveEachImage(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock)
    }

    func makeSetLoad(
        _ sources: [Source], _ options: KingfisherOptionsInfo?, _ limit: Int,
        stopsAtFailure: Bool, _ progress: ImageSetProgressBlock?
    ) -> ImageSetLoad {
        let parsed = parsedOptions(options)
        return ImageSetLoad(
            sources.map { ImageSetLoad.Item(source: $0, options: parsed) }, limit: limit,
            stopsAtFailure: stopsAtFailure, queue: parsed.callbackQueue, progress: progress,
            events: eventHub)
    }
}
