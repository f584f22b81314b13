extension KingfisherManager {
    /// Loads a set of images, in parallel, that is only of use when it is complete.
    ///
    /// - Parameters:
    ///   - sources: What to load; the results are in this order, whatever comes first.
    ///   - options: Of each image.
    ///   - maximumConcurrentLoads: The most images in work at one time; at least 1.
    ///   - progressBlock: Called on the main queue with the progress of the whole set.
    ///   - completionHandler: Called exactly once, on the `callbackQueue` of the options, with all
    ///     images, or with the failure that came first; that one cancels the other loads.
    /// - Returns: What cancels the whole set.
    @discardableResult
    public func retrieveImages(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable (Result<[RetrieveImageResult], KingfisherError>) -> Void
    ) -> ImageSetTask {
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: true, progressBlock)
        let queue = parsedOptions(options).callbackQueue
        Task.immediate {
            let result = await load.images()
            queue.execute { completionHandler(result) }
        }
        return load.task
    }

    /// Loads a set of images that is only of use when it is complete; see the form for sources.
    @discardableResult
    public func retrieveImages(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable (Result<[RetrieveImageResult], KingfisherError>) -> Void
    ) -> ImageSetTask {
        retrieveImages(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }

    /// Loads a set of images, in parallel, of which some may fail.
    ///
    /// `completionHandler` is called exactly once, on the `callbackQueue` of the options, with what
    /// became of each source, in their order; the other parameters are those of `retrieveImages`.
    /// - Returns: What cancels the whole set.
    @discardableResult
    public func retrieveEachImage(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable ([Result<RetrieveImageResult, KingfisherError>]) -> Void
    ) -> ImageSetTask {
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: false, progressBlock)
        let queue = parsedOptions(options).callbackQueue
        Task.immediate {
            let outcomes = await load.run().outcomes
            queue.execute { completionHandler(outcomes) }
        }
        return load.task
    }

    /// Loads a set of images of which some may fail; see the form for sources.
    @discardableResult
    public func retrieveEachImage(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable ([Result<RetrieveImageResult, KingfisherError>]) -> Void
    ) -> ImageSetTask {
        retrieveEachImage(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }
}
