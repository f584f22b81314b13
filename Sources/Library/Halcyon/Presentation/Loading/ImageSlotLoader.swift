import HalcyonWork
import Synchronization

/// Called with the image that a view now shows, or with the error; once for each call that sets an
/// image.
public typealias ImageSettingCompletion =
    @MainActor @Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void

/// Loads images for one slot, one after the other: the driver of all views that show images.
///
/// A superseded load goes on, so that its image is cached, but behind all other downloads queued
/// for its host, unless its options cancel it. It no longer changes the slot and completes with
/// `notCurrentSourceTask`.
@MainActor final class ImageSlotLoader {
    /// The number of the slot's current load; `nil` if there is none.
    private(set) var taskIdentifier: Source.Identifier.Value?
    private var task: DownloadTask?
    /// Cancels `task` or lowers its priority when the slot is given something else to show.
    private var supersede: @MainActor @Sendable () -> Void = {}
    private var token: RequestToken?
    /// The number of calls to `load`.
    private var revision = 0
    /// The number of images on display with a revalidation in the background.
    private var revalidations = 0
    private let becameIdle: @MainActor (ImageSlotLoader) -> Void

    /// Creates a loader; `becameIdle` is called when it has no state left.
    init(becameIdle: @escaping @MainActor (ImageSlotLoader) -> Void = { _ in }) {
        self.becameIdle = becameIdle
    }

    /// Loads `source` and shows it in `slot`; `nil` when nothing runs yet, or it has ended.
    ///
    /// - Parameters:
    ///   - progress: Called on the main queue as long as the load is the latest one.
    ///   - completion: Called once; before this returns for an image in memory or no source.
    func load<Slot: ImageSlot>(
        _ source: Source?, into slot: Slot, options: KingfisherParsedOptionsInfo,
        progress: DownloadProgressBlock? = nil, completion: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        revision += 1
        // At the end, so that a download shared with this load goes on.
        let supersede = supersede
        defer { supersede() }
        guard let source else {
            slot.showPlaceholder(options)
            taskIdentifier = nil
            tellIfIdle()
            completion?(.failure(.imageSettingError(reason: .emptySource)))
            return nil
        }
        if !options.keepCurrentImageWhileLoading || slot.isEmpty {
            slot.showPlaceholder(options)
        }
        let endActivity = slot.beginActivity()

        let answered = OneShot<HTTPRevalidation?>()
        let token = RequestToken()
        self.token?.cancel()
        self.token = token
        let identifier = Source.Identifier.next()
        taskIdentifier = identifier
        var options = options
        if options.downloader == nil { options.downloader = KingfisherManager.shared.downloader }
        if options.targetCache == nil { options.targetCache = KingfisherManager.shared.cache }
        if slot.preloadsAllAnimationData { options.preloadAllAnimationData = true }
        if let onSize = options.onSize {
            options.announcement = SizeAnnouncement(
                onSize, on: .mainCurrentOrAsync, while: { token.isCurrent })
        }
        var previews: ProgressiveConsumer?
        if slot.showsPreviews {
            previews = { [options] image in
                MainActor.assumeIsolated { slot.preview(image, options: options) }
            }
        }
        var request = ImageRequest(
            source: source, options: options,
            progress: MainQueueProgress(reporting(progress, in: slot, while: token)),
            probing: options.asyncCacheTypeCheck ? .onItsOwnThread : .onCallingThread,
            isCurrent: { token.isCurrent }, progressiveConsumer: previews
        ).followed(by: KingfisherManager.shared.eventHub, on: .mainAsync)
        request.onRevalidated = { found in
            CallbackQueue.mainAsync.execute { answered.give(found) }
        }
        // Cancellation also covers later attempts, so there is never another task to keep.
        let (handle, cancels) = (request.handle, options.cancelWhenSuperseded)
        task = handle
        self.supersede = {
            if cancels { handle.cancel() } else { handle.priority = TransferPriority.superseded }
        }

        let load = Load(
            identifier: identifier, handle: handle, revision: revision, source: source,
            slot: slot, token: token, options: options, endActivity: endActivity,
            completion: completion, revalidation: answered)
        request.start { result in self.finish(load, result) }
        return options.asyncCacheTypeCheck || handle.isInitialized ? handle : nil
    }

    /// Cancels the current load; it completes with an error, which the slot shows.
    func cancel() {
        token?.cancel()
        task?.cancel()
    }

    func setPriority(_ priority: Float) {
        task?.priority = priority
    }

    private func finish<Slot: ImageSlot>(
        _ load: Load<Slot>, _ result: Result<RetrieveImageResult, KingfisherError>
    ) {
        load.endActivity()
        if task === load.handle {
            task = nil
            supersede = {}
        }
        guard taskIdentifier == load.identifier else {
            tellIfIdle()
            load.completion?(load.superseded(result))
            return
        }
        taskIdentifier = nil
        if case .success(let value) = result, case .stale(.revalidating)? = value.httpCacheUse {
            revalidations += 1
            load.revalidation.whenGiven { found in
                MainActor.assumeIsolated { self.revalidated(load, found) }
            }
        } else {
            token = nil
        }
        tellIfIdle()

        switch result {
        case .success(let value) where load.options.needsTransition(cacheType: value.cacheType):
            load.slot.animate(
                ImageChange(
                    value.image, options: load.options,
                    isWanted: { self.revision == load.revision },
                    ended: { load.completion?($0 ? result : load.superseded(result)) }))
        case .success(let value):
            load.slot.show(value.image, options: load.options)
            load.completion?(result)
        case .failure(let error):
            load.slot.fail(with: error, options: load.options)
            load.completion?(result)
        }
    }

    /// Replaces a stale image by the server's current one, if it is still on display.
    private func revalidated<Slot: ImageSlot>(_ load: Load<Slot>, _ found: HTTPRevalidation?) {
        revalidations -= 1
        defer { tellIfIdle() }
        guard let found, revision == load.revision, load.token.isCurrent, load.slot.isThere else {
            return
        }
        let tell = { load.options.onHTTPRevalidation?(found) }
        guard case .changed(let value) = found else {
            tell()
            return
        }
        if load.options.needsTransition(cacheType: .none) {
            load.slot.animate(
                ImageChange(
                    value.image, options: load.options,
                    isWanted: { self.revision == load.revision && load.token.isCurrent },
                    ended: { if $0 { tell() } }))
        } else {
            load.slot.show(value.image, options: load.options)
            tell()
        }
    }

    private func tellIfIdle() {
        if taskIdentifier == nil, task == nil, revalidations == 0 { becameIdle(self) }
    }
}

@MainActor private struct Load<Slot: ImageSlot> {
    let identifier: Source.Identifier.Value
    let handle: DownloadTask
    let revision: Int
    let source: Source
    let slot: Slot
    let token: RequestToken
    let options: KingfisherParsedOptionsInfo
    let endActivity: @MainActor () -> Void
    let completion: ImageSettingCompletion?
    /// The result of revalidating an image shown stale; `nil` if there was no revalidation.
    let revalidation: OneShot<HTTPRevalidation?>

    /// The outcome of a load that ended after the slot was given something else.
    func superseded(
        _ result: Result<RetrieveImageResult, KingfisherError>
    ) -> Result<RetrieveImageResult, KingfisherError> {
        let reason: KingfisherError.ImageSettingErrorReason
        switch result {
        case .success(let value):
            reason = .notCurrentSourceTask(result: value, error: nil, source: source)
        case .failure(let error):
            reason = .notCurrentSourceTask(result: nil, error: error, source: source)
        }
        return .failure(.imageSettingError(reason: reason))
    }
}

extension ImageRequest {
    /// Runs on this thread up to the first wait, so that an image in memory is delivered, and a
    /// download started, before this returns; then on any thread. Delivers on the main actor.
    fileprivate func start(
        _ deliver:
            @escaping @MainActor @Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void
    ) {
        Task.immediate {
            let result = await run()
            // Other results may also be ready without a wait, if this thread was held up; they are
            // still delivered after the call.
            let isFromMemory =
                result.isImmediate && (try? result.get())?.cacheType == .memory
            let queue = isFromMemory ? CallbackQueue.mainCurrentOrAsync : .mainAsync
            queue.execute {
                MainActor.assumeIsolated { deliver(result) }
            }
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Creates options from the shared manager's defaults, followed by `options`.
    init(ofView options: KingfisherOptionsInfo?) {
        self.init(KingfisherManager.shared.defaultOptions + (options ?? []))
    }
}

/// Shows the progress in `slot` and passes it to `progress`, as long as `token` is current; `nil`
/// if neither needs it.
@MainActor private func reporting(
    _ progress: DownloadProgressBlock?, in slot: some ImageSlot, while token: RequestToken
) -> DownloadProgressBlock? {
    guard progress != nil || slot.showsProgress else { return nil }
    return { received, total in
        guard token.isCurrent else { return }
        MainActor.assumeIsolated { slot.showProgress(received: received, total: total) }
        progress?(received, total)
    }
}

/// A place that shows one image at a time, from the loader's point of view.
///
/// A slot holds its view weakly: a load does not keep a view alive, and has no effect on a released
/// one.
@MainActor protocol ImageSlot: Sendable {
    var isThere: Bool { get }

    /// Whether neither an image nor a placeholder is on display.
    var isEmpty: Bool { get }

    /// Whether all frames of an animation are to be decoded before it is shown.
    var preloadsAllAnimationData: Bool { get }

    /// Shows the placeholder of this load; without one, shows nothing.
    func showPlaceholder(_ options: KingfisherParsedOptionsInfo)

    /// Shows that a load is running; the returned block ends this.
    func beginActivity() -> @MainActor () -> Void

    var showsProgress: Bool { get }

    func showProgress(received: Int64, total: Int64)

    /// Whether `preview` shows anything; if not, no scans are decoded for it.
    var showsPreviews: Bool { get }

    /// Shows the current state of a progressive JPEG in place of the placeholder; `nil` shows
    /// neither. The load goes on.
    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo)

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo)

    func animate(_ change: ImageChange)

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo)
}

extension ImageSlot {
    var preloadsAllAnimationData: Bool { false }

    var showsPreviews: Bool { true }

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo) {
        preview(image, options: options)
    }

    func beginActivity() -> @MainActor () -> Void { {} }

    var showsProgress: Bool { false }

    func showProgress(received: Int64, total: Int64) {}

    func animate(_ change: ImageChange) {
        change.perform { show($0, options: change.options) }
        change.end()
    }
}

/// An animated change of a slot's image.
@MainActor final class ImageChange {
    let image: KFCrossPlatformImage
    let options: KingfisherParsedOptionsInfo
    private let isWanted: @MainActor () -> Bool
    private let ended: @MainActor (_ wasShown: Bool) -> Void
    private var wasShown = false
    private var hasEnded = false

    /// - Parameter isWanted: Whether the slot has not been given anything else to show since.
    init(
        _ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo,
        isWanted: @escaping @MainActor () -> Bool, ended: @escaping @MainActor (Bool) -> Void
    ) {
        self.image = image
        self.options = options
        self.isWanted = isWanted
        self.ended = ended
    }

    /// Runs `body`, which shows the image, unless the slot has been given another one since.
    func perform(_ body: @MainActor (KFCrossPlatformImage) -> Void) {
        guard !wasShown, isWanted() else { return }
        wasShown = true
        body(image)
    }

    /// Ends the change. Further calls do nothing.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        ended(wasShown)
    }
}

/// Whether a view's request is still wanted. Latches.
final class RequestToken: Sendable {
    private let isCancelled = Atomic(false)

    var isCurrent: Bool { !isCancelled.load(ordering: .acquiring) }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }
}
