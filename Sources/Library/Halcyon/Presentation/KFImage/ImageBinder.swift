public import Foundation

/// Loads the image of a `KFImage` or a `KFAnimatedImage` and determines its presentation.
///
/// A renderer keeps a binder for each view and tells it when the view appears and disappears.
/// Callbacks are on the main actor.
@MainActor public final class ImageBinder {
    private enum Phase {
        case idle
        case loading
        case loaded
    }

    /// The renderer, which is notified of presentation changes; a weak reference.
    public weak var renderer: (any KFImageRenderer)?
    /// The current presentation.
    public private(set) var presentation = KFImage.Presentation()
    /// The progress of the load; the total is 0 until it is known.
    public private(set) var progress = Progress(totalUnitCount: 0)

    private let loader = ImageSlotLoader()
    private var phase = Phase.idle

    public init() {}

    /// Whether the image is loaded and shown.
    public var isLoaded: Bool { phase == .loaded }

    /// Whether a load runs or has succeeded.
    public var isLoadingOrLoaded: Bool { phase != .idle }

    /// To be called when the view has been made: starts the load if the context asks for it this
    /// early.
    public func prepare(_ context: KFImage.Context) {
        adopt(context)
        if context.startLoadingBeforeViewAppear { start(context) }
    }

    /// To be called when the view appears on the screen: loads unless a load runs or has succeeded.
    public func appear(_ context: KFImage.Context) {
        adopt(context)
        if context.reducePriorityOnDisappear {
            loader.setPriority(context.options.downloadPriority)
        }
        start(context)
    }

    /// To be called when the view has left the screen: cancels the load or lowers its priority, if
    /// the context asks for that.
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
        var options = context.options
        if let transition = context.loadTransition { options.transition = transition }
        _ = loader.load(
            context.source, into: BinderSlot(binder: self, context: context), options: options,
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

    /// Cancels the load and calls its `onFailure`. None of it is shown, and the next `start` loads
    /// again.
    public func cancel() {
        guard phase == .loading else { return }
        phase = .idle
        loader.cancel()
    }

    private func adopt(_ context: KFImage.Context) {
        guard presentation.rendering != context.rendering else { return }
        presentation.rendering = context.rendering
        if isLoadingOrLoaded { tellRenderer() }
    }

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

    /// Shows the loaded part of an image in progress; `nil` shows nothing.
    fileprivate func preview(_ image: KFCrossPlatformImage?) {
        guard phase == .loading else { return }
        let isVisible = image != nil
        present(image, isVisible: isVisible, overlay: .none, imageDefinesLayout: isVisible)
    }

    /// Prepares for the transition. If that covers the whole content, the placeholder stays until
    /// then; otherwise the image takes up its space.
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
