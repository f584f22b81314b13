extension KingfisherManager {
    /// Loads photos and a frame, in parallel, and makes one picture of them when all are there.
    ///
    /// The images are cached one by one, the picture is not. Cancelling the surrounding task cancels
    /// all loads.
    /// - Parameters:
    ///   - photos: What to load for the slots; those without a slot are not loaded.
    ///   - layout: The slots of the photos, in the order of `photos`.
    ///   - frame: The frame, if any.
    ///   - options: Of the photos, and of the frame unless it has its own. A processor such as
    ///     `DownsamplingImageProcessor` keeps photos from being decoded larger than they are needed.
    ///   - frameOptions: Of the frame; `nil` means `options`.
    ///   - maximumConcurrentLoads: The most images loaded at one time; at least 1.
    ///   - progressBlock: Called on the main queue with the progress of all images.
    /// - Returns: The picture, rendered.
    /// - Throws: The failure that came first, as `KingfisherError`; it cancels the other loads.
    ///   `CancellationError` when the task was cancelled beforehand.
    public func retrieveComposition(
        _ layout: PhotoLayout, photos: [Source], frame: Source? = nil,
        options: KingfisherOptionsInfo? = nil, frameOptions: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil
    ) async throws -> KFCrossPlatformImage {
        try Task.checkCancellation()
        let load = makeLoad(
            layout, photos, frame, options, frameOptions, maximumConcurrentLoads, progressBlock)
        return try await load.task.handle.cancelled {
            try await Self.picture(layout, from: load, hasFrame: frame != nil).get()
        }
    }

    /// Loads photos and a frame, in parallel, and makes one picture of them when all are there; the
    /// parameters are those of the asynchronous form.
    ///
    /// `completionHandler` is called exactly once, on the `callbackQueue` of `options` and after this has
    /// returned, with the rendered picture or the failure that came first.
    /// - Returns: What cancels all loads.
    @discardableResult
    public func retrieveComposition(
        _ layout: PhotoLayout, photos: [Source], frame: Source? = nil,
        options: KingfisherOptionsInfo? = nil, frameOptions: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable (Result<KFCrossPlatformImage, KingfisherError>) -> Void
    ) -> ImageSetTask {
        let load = makeLoad(
            layout, photos, frame, options, frameOptions, maximumConcurrentLoads, progressBlock)
        let hasFrame = frame != nil
        return load.begin(for: completionHandler) {
            await Self.picture(layout, from: load, hasFrame: hasFrame)
        }
    }

    /// The photos and, last, the frame.
    private func makeLoad(
        _ layout: PhotoLayout, _ photos: [Source], _ frame: Source?,
        _ options: KingfisherOptionsInfo?, _ frameOptions: KingfisherOptionsInfo?, _ limit: Int,
        _ progress: ImageSetProgressBlock?
    ) -> ImageSetLoad {
        let parsed = parsedOptions(options)
        var items = photos.prefix(layout.slots.count).map {
            ImageSetLoad.Item(source: $0, options: parsed)
        }
        if let frame {
            let options = frameOptions.map(parsedOptions) ?? parsed
            items.append(ImageSetLoad.Item(source: frame, options: options))
        }
        return ImageSetLoad(
            items, limit: limit, stopsAtFailure: true, queue: parsed.callbackQueue,
            progress: progress, events: eventHub)
    }

    private static func picture(
        _ layout: PhotoLayout, from load: ImageSetLoad, hasFrame: Bool
    ) async -> Result<KFCrossPlatformImage, KingfisherError> {
        let images: [KFCrossPlatformImage]
        switch await load.images() {
        case .success(let results): images = results.map(\.image)
        case .failure(let error): return .failure(error)
        }
        let picture = ImageComposition(
            layout: layout, photos: hasFrame ? images.dropLast() : images,
            frame: hasFrame ? images.last : nil
        ).image
        do {
            return .success(try await picture.rendered())
        } catch {
            let (item, processor) = (ImageProcessItem.image(picture), DefaultImageProcessor.default)
            ProcessingFailures.shared.note(error, of: item, by: processor)
            return .failure(.unprocessed(item, by: processor))
        }
    }
}
