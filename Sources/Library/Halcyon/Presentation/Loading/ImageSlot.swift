import Synchronization

/// A place that shows one image at a time, as the driver sees it.
///
/// A slot holds its view weakly: a load does not keep a view alive, and does nothing to one that is
/// gone.
@MainActor protocol ImageSlot: Sendable {
    /// Whether its view has not gone.
    var isThere: Bool { get }

    /// Whether neither an image nor a placeholder is on show.
    var isEmpty: Bool { get }

    /// Whether all frames of an animation are to be decoded before it is shown.
    var preloadsAllAnimationData: Bool { get }

    /// Shows the placeholder of this load; without one, shows nothing.
    func showPlaceholder(_ options: KingfisherParsedOptionsInfo)

    /// Shows that a load runs.
    ///
    /// - Returns: What ends that.
    func beginActivity() -> @MainActor () -> Void

    /// Whether `showProgress` shows anything.
    var showsProgress: Bool { get }

    /// Shows how many bytes have arrived, of how many.
    func showProgress(received: Int64, total: Int64)

    /// Whether `preview` shows anything; if not, no scans are decoded for it.
    var showsPreviews: Bool { get }

    /// Shows what a progressive JPEG looks like so far, in place of the placeholder; `nil` shows
    /// neither. The load goes on.
    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo)

    /// Takes the placeholder away and shows `image`.
    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo)

    /// Takes the placeholder away and shows the image of `change` with a transition.
    func animate(_ change: ImageChange)

    /// Shows that a load failed.
    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo)
}

extension ImageSlot {
    var preloadsAllAnimationData: Bool { false }

    var showsPreviews: Bool { true }

    func beginActivity() -> @MainActor () -> Void { {} }

    var showsProgress: Bool { false }

    func showProgress(received: Int64, total: Int64) {}

    /// Without transitions, the change happens at once.
    func animate(_ change: ImageChange) {
        change.perform { show($0, options: change.options) }
        change.end()
    }
}

/// An image on its way into a slot, by an animation.
@MainActor final class ImageChange {
    let image: KFCrossPlatformImage
    let options: KingfisherParsedOptionsInfo
    private let isWanted: @MainActor () -> Bool
    private let ended: @MainActor (_ wasShown: Bool) -> Void
    private var wasShown = false
    private var hasEnded = false

    /// - Parameters:
    ///   - isWanted: Whether the slot has not been given anything else to show since.
    ///   - ended: Called once.
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

/// Whether anybody still waits for a request of a view. Latches.
final class RequestToken: Sendable {
    private let isCancelled = Atomic(false)

    var isCurrent: Bool { !isCancelled.load(ordering: .acquiring) }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }
}
