public import Foundation

/// Loads what a `KFImage` or a `KFAnimatedImage` describes and says what is to be seen of it.
///
/// A renderer keeps one for each view and tells it when the view comes and goes. Callbacks are on the
/// main actor.
@MainActor public final class ImageBinder {
    private enum Phase {
        case idle
        case loading
        case loaded
    }

    /// The renderer, which is told when the presentation changes; a weak reference.
    public weak var renderer: (any KFImageRenderer)?
    /// What is to be seen now.
    public private(set) var presentation = KFImage.Presentation()
    /// How far the load is; the total is 0 until it is known.
    public private(set) var progress = Progress(totalUnitCount: 0)

    private let loader = ImageSlotLoader()
    private var phase = Phase.idle

    public init() {}

    /// Whether the image is there and seen.
    public var isLoaded: Bool { phase == .loaded }

    /// Whether nothing need be started: a load runs, or has succeeded.
    public var isLoadingOrLoaded: Bool { phase != .idle }

    /// To be called when the view has been made: loads if the image is to be loaded that early.
    public func prepare(_ context: KFImage.Context) {
        adopt(context)
        if context.startLoadingBeforeViewAppear { start(context) }
    }

    /// To be called when the view comes on the screen: loads unless a load runs or has succeeded.
    public func appear(_ context: KFImage.Context) {
        adopt(context)
        if context.reducePriorityOnDisappear {
            loader.setPriority(context.options.downloadPriority)
        }
        start(context)
    }

    /// To be called when the view has left the screen: cancels the load, or makes it less urgent, if
    /// that is wanted.
    public func disappear(_ context: KFImage.Context) {
        if context.cancelOnDisappear {
            cancel()
        } else if context.reducePriorityOnDisappear {
            loader.setPriority(min(TransferPriority.low, context.options.downloadPriority))
        }
    }

    /// Loads unless a load runs or has succeeded.
    public func start(_ context: KFImage.Context) {
        adopt(context)
        guard !isLoadingOrLoaded else { return }
        phase = .loading
        progress = Progress(totalUnitCount: 0)
        guard context.source != nil else {
            let error = KingfisherError.imageSettingError(reason: .emptySource)
            showFailure(context)
            context.onFailureDelegate.call(error)
            return
        }
        _ = loader.load(
            context.source, into: BinderSlot(binder: self, context: context),
            options: context.loadOptions,
            progress: { [weak self] received, total in
                MainActor.assumeIsolated {
                    self?.updateProgress(received, total)
                    context.onProgressDelegate.call((received, total))
                }
            },
            completion: { result in
                switch result {
                case .success(let value): context.onSuccessDelegate.call(value)
                case .failure(let error): context.onFailureDelegate.call(error)
                }
            })
    }

    /// Cancels the load and calls its `onFailure`. Nothing of it is shown, and the next `start` loads again.
    public func cancel() {
        guard phase == .loading else { return }
        phase = .idle
        loader.cancel()
    }

    /// Draws as `context` says from now on.
    private func adopt(_ context: KFImage.Context) {
        guard presentation.rendering != context.rendering else { return }
        presentation.rendering = context.rendering
        if isLoadingOrLoaded { tellRenderer() }
    }

    /// What is to be seen next, drawn as now.
    private func present(
        _ image: KFCrossPlatformImage? = nil, isVisible: Bool = false,
        overlay: KFImage.Presentation.Overlay, imageDefinesLayout: Bool = false,
        transition: ImageTransition = .none
    ) {
        presentation = KFImage.Presentation(
            image: image, isImageVisible: isVisible, overlay: overlay,
            imageDefinesLayout: imageDefinesLayout, rendering: presentation.rendering)
        tellRenderer(transition)
    }

    private func updateProgress(_ received: Int64, _ total: Int64) {
        progress.totalUnitCount = total
        progress.completedUnitCount = received
        if phase == .loading { tellRenderer() }
    }

    fileprivate func showPlaceholder() {
        present(overlay: .placeholder)
    }

    fileprivate func show(_ image: KFCrossPlatformImage, transition: ImageTransition = .none) {
        phase = .loaded
        present(
            image, isVisible: true, overlay: .none, imageDefinesLayout: true, transition: transition
        )
    }

    /// Shows what there is of an image that is being loaded; `nil` shows nothing.
    fileprivate func preview(_ image: KFCrossPlatformImage?) {
        guard phase == .loading else { return }
        let isVisible = image != nil
        present(image, isVisible: isVisible, overlay: .none, imageDefinesLayout: isVisible)
    }

    /// Makes ready for the transition. With one of the whole content the placeholder keeps its place
    /// until then; otherwise the image takes its own.
    fileprivate func prepare(_ image: KFCrossPlatformImage, keepingPlaceholder: Bool) {
        present(
            image, overlay: keepingPlaceholder ? .placeholder : .none,
            imageDefinesLayout: !keepingPlaceholder)
    }

    fileprivate func showFailure(_ context: KFImage.Context) {
        // A cancelled load leaves the view as it was.
        guard phase == .loading else { return }
        phase = .idle
        if context.failureView != nil {
            present(overlay: .failureView)
        } else if case .some(.some(let image)) = context.options.onFailureImage {
            present(image, isVisible: true, overlay: .none, imageDefinesLayout: true)
        }
    }

    private func tellRenderer(_ transition: ImageTransition = .none) {
        renderer?.imageBinder(self, didChangeTo: presentation, transition: transition)
    }
}

/// A binder with what it loads.
@MainActor private struct BinderSlot: ImageSlot {
    weak var binder: ImageBinder?
    let context: KFImage.Context

    var isThere: Bool { binder != nil }

    var isEmpty: Bool { binder?.presentation.image == nil }

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        binder?.showPlaceholder()
    }

    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        binder?.preview(image)
    }

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo) {
        binder?.show(image)
    }

    func animate(_ change: ImageChange) {
        binder?.prepare(change.image, keepingPlaceholder: context.loadTransition != nil)
        change.perform { binder?.show($0, transition: change.options.transition) }
        change.end()
    }

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo) {
        binder?.showFailure(context)
    }
}

extension KFImage.Context {
    /// The options, with the transition that is to be used.
    fileprivate var loadOptions: KingfisherParsedOptionsInfo {
        var options = options
        if let loadTransition { options.transition = loadTransition }
        return options
    }
}
