public import Foundation

/// Told of the resources that were cached already, that failed and that were loaded, so far.
public typealias PrefetcherProgressBlock =
    @Sendable (
        _ skippedResources: [any Resource], _ failedResources: [any Resource],
        _ completedResources: [any Resource]
    ) -> Void

/// Told of all resources: those that were cached already, that failed and that were loaded.
public typealias PrefetcherCompletionHandler = PrefetcherProgressBlock

/// Told of the sources that were cached already, that failed and that were loaded, so far.
public typealias PrefetcherSourceProgressBlock =
    @Sendable (
        _ skippedSources: [Source], _ failedSources: [Source], _ completedSources: [Source]
    ) -> Void

/// Told of all sources: those that were cached already, that failed and that were loaded.
public typealias PrefetcherSourceCompletionHandler = PrefetcherSourceProgressBlock

/// Brings images into the cache before they are needed.
///
/// A source is skipped when the target cache holds its image under the processor of the options; with
/// `alsoPrefetchToMemory` an image on disk is read into memory first, and counts as skipped. With
/// `forceRefresh` nothing is skipped. What is not cached is loaded, with the retry strategy, the
/// alternatives and the cached original that any request has.
///
/// When pixels are of no use (the default processor, the default serializer and neither
/// `alsoPrefetchToMemory`, `cacheMemoryOnly` nor an image modifier), the bytes are written to disk as
/// they come: their header is read, so that a page of HTML fails, but nothing is decoded.
///
/// The caches and the downloader are those of the options, by default `ImageCache.default` and
/// `ImageDownloader.default`. The default options of `KingfisherManager.shared` do not apply, and
/// `callbackQueue` and `onlyFromCache` are without effect.
///
/// Progress is reported once for each source when it is done, except for those that a stop keeps
/// from beginning; the completion is called once, after everything else. Both come on the main
/// queue. The lists of a report grow with the sources that are done: take from them what is needed,
/// since one that is kept is copied for the next report. A lone trailing closure is the completion.
/// A prefetcher runs once. It lives until its completion even if nobody else keeps it.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(urls: urls, options: options) { skipped, failed, loaded in
///     report([skipped.count, failed.count, loaded.count])
/// }
/// prefetcher.maxConcurrentDownloads = 10
/// prefetcher.start()
/// ```
public class ImagePrefetcher: CustomStringConvertible, @unchecked Sendable {
    // Unchecked because the class is not final; all its state is in the run.

    private let run: PrefetchRun

    /// The object's address.
    public var description: String { "\(Unmanaged.passUnretained(self).toOpaque())" }

    /// The most sources loaded at one time. 5 by default; a change takes effect when the next one
    /// is done. Starting with less than 1 is an error: everything fails.
    public var maxConcurrentDownloads: Int {
        get { run.limit }
        set { run.limit = newValue }
    }

    /// Why sources have failed so far, in the order in which the callbacks for sources list them.
    /// The errors of sources that were stopped, or never begun, are cancellations (`isCancelled`).
    public var failures: [PropagationError] { run.failures }

    /// Returns ``failures`` and forgets them: an error may hold all that a server has answered, which would
    /// add up over a long list.
    public func takeFailures() -> [PropagationError] { run.takeFailures() }

    /// A prefetcher of the images at `urls`.
    public convenience init(
        urls: [URL], options: KingfisherOptionsInfo? = nil,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.init(
            resources: urls, options: options, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }

    /// A prefetcher of the images at `urls`, without progress.
    public convenience init(
        urls: [URL], options: KingfisherOptionsInfo? = nil,
        completionHandler: @escaping PrefetcherCompletionHandler
    ) {
        self.init(
            urls: urls, options: options, progressBlock: nil,
            completionHandler: completionHandler)
    }

    /// A prefetcher of `resources`. Local files are loaded but not reported, as they are not
    /// network sources.
    public convenience init(
        resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.init(
            resources.map { $0.convertToSource() }, options,
            PrefetchLists(progress: progressBlock, completion: completionHandler) { source in
                if case .network(let resource) = source { resource } else { nil }
            })
    }

    /// A prefetcher of `resources`, without progress.
    public convenience init(
        resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        completionHandler: @escaping PrefetcherCompletionHandler
    ) {
        self.init(
            resources: resources, options: options, progressBlock: nil,
            completionHandler: completionHandler)
    }

    /// A prefetcher of `sources`.
    public convenience init(
        sources: [Source], options: KingfisherOptionsInfo? = nil,
        progressBlock: PrefetcherSourceProgressBlock? = nil,
        completionHandler: PrefetcherSourceCompletionHandler? = nil
    ) {
        self.init(
            sources, options,
            PrefetchLists(progress: progressBlock, completion: completionHandler) { $0 })
    }

    /// A prefetcher of `sources`, without progress.
    public convenience init(
        sources: [Source], options: KingfisherOptionsInfo? = nil,
        completionHandler: @escaping PrefetcherSourceCompletionHandler
    ) {
        self.init(
            sources: sources, options: options, progressBlock: nil,
            completionHandler: completionHandler)
    }

    private init(
        _ sources: [Source], _ options: KingfisherOptionsInfo?, _ reporter: any PrefetchReporter
    ) {
        run = PrefetchRun(
            sources: sources.map(\.pinned), options: options, reporter: reporter)
    }

    /// Begins. Without sources the completion follows at once; after `stop()`, or with
    /// `maxConcurrentDownloads` below 1, it reports all as failed, and an error is logged. A second
    /// start is logged and does nothing.
    public func start() {
        run.start()
    }

    /// Cancels what is running and begins nothing more; sources that are not done by then have
    /// failed. The completion is still called. Afterwards this does nothing.
    public func stop() {
        run.stop()
    }
}
