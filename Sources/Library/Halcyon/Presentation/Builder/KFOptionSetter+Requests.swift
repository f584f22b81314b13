public import FoundationNetworking

@MainActor extension KFOptionSetter {
    /// Sets the sources to load instead when loading fails, in order; `nil` for none.
    public func alternativeSources(_ sources: [Source]?) -> Self {
        setting(\.alternativeSources, to: sources)
    }

    /// Sets what decides whether a failed load is tried again; `nil` for nothing.
    public func retry(_ strategy: (any RetryStrategy)?) -> Self {
        setting(\.retryStrategy, to: strategy)
    }

    /// Sets how urgent the download is, from 0 to 1.
    public func downloadPriority(_ priority: Float) -> Self {
        setting(\.downloadPriority, to: priority)
    }

    /// Sets how a progressive JPEG is shown while it is downloaded; `nil` shows only the whole image.
    public func progressiveJPEG(_ progressive: ImageProgressive? = .init()) -> Self {
        setting(\.progressiveJPEG, to: progressive)
    }

    /// Tries a failed load again up to `maxCount` times.
    public func retry(
        maxCount: Int, interval: DelayRetryStrategy.Interval = .seconds(3)
    ) -> Self {
        retry(DelayRetryStrategy(maxRetryCount: maxCount, retryInterval: interval))
    }

    /// Sets whether and how the server says how long the image is good for.
    public func httpCaching(_ caching: HTTPCaching = .on) -> Self {
        setting(\.httpCaching, to: caching)
    }

    /// Sets what is told, on the main actor, what a revalidation in the background has found, when a
    /// stale image was shown first.
    public func onRevalidated(
        _ block: (@MainActor @Sendable (HTTPRevalidation) -> Void)?
    ) -> Self {
        setting(\.onHTTPRevalidation, to: onMainActor(block))
    }

    /// Sets what is told, on the main actor, the size of the picture in pixels: once, and before the
    /// image is shown; see the option ``KingfisherOptionsInfoItem/onSize(_:)``. A place of that size
    /// can be made while the rest of the picture is on its way.
    public func onSize(_ block: (@MainActor @Sendable (PixelSize) -> Void)?) -> Self {
        setting(\.onSize, to: onMainActor(block))
    }

    /// Sets what is told, on the main actor, what happens to the request, from its start to its end; see the
    /// option ``KingfisherOptionsInfoItem/onEvent(_:)``.
    public func onEvent(_ block: (@MainActor @Sendable (ImageEvent) -> Void)?) -> Self {
        setting(\.onEvent, to: onMainActor(block))
    }

    /// Sets the source to load instead in low data mode; `nil` for none.
    public func lowDataModeSource(_ source: Source?) -> Self {
        setting(\.lowDataModeSource, to: source)
    }

    /// Sets what changes the request before it is sent.
    public func requestModifier(_ modifier: any AsyncImageDownloadRequestModifier) -> Self {
        setting(\.requestModifier, to: modifier)
    }

    /// Sets a closure that changes the request before it is sent. Runs on any thread.
    public func requestModifier(
        _ modifyBlock: @escaping @Sendable (inout URLRequest) -> Void
    ) -> Self {
        requestModifier(
            AnyModifier { request in
                var request = request
                modifyBlock(&request)
                return request
            })
    }

    /// Sets what decides on redirects.
    public func redirectHandler(_ handler: any ImageDownloadRedirectHandler) -> Self {
        setting(\.redirectHandler, to: handler)
    }

    /// Sets a closure that decides on redirects; it must call the payload's `completionHandler` exactly
    /// once. Runs on any thread.
    public func redirectHandler(
        _ block: @escaping @Sendable (KF.RedirectPayload) -> Void
    ) -> Self {
        redirectHandler(
            AnyRedirectHandler { task, response, request, handler in
                block(
                    KF.RedirectPayload(
                        task: task, response: response, newRequest: request,
                        completionHandler: handler))
            })
    }
}

extension KF {
    /// A redirect, and where the decision on it goes.
    public struct RedirectPayload {
        /// The download that is redirected.
        public let task: SessionDataTask
        /// The answer that redirects it.
        public let response: HTTPURLResponse
        /// The request that follows the redirect.
        public let newRequest: URLRequest
        /// Takes the request to follow with; `nil` takes the redirecting response as the answer.
        public let completionHandler: (URLRequest?) -> Void
    }
}
