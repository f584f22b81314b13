/// The state of the image in a reused view.
public enum ReusableImageState: Sendable {
    /// Not bound.
    case empty
    /// The image is being loaded.
    case loading(Source)
    /// The image.
    case success(KFCrossPlatformImage)
    /// The error and the source that failed.
    case failure(KingfisherError, Source)
}

/// Binds a reused view, such as a row of a list, to one image after another.
///
/// Results of earlier images never reach the view. The load of an earlier image goes on, so that it
/// is cached, but behind all other downloads queued for its host; with `.cancelWhenSuperseded` it
/// is cancelled, and a download goes on only for its other callers. A binding that is unbound or
/// released cancels its load.
@MainActor public final class ReusableImageBinding {
    /// The current state.
    public private(set) var state = ReusableImageState.empty

    private let loader = ImageSlotLoader()
    private let present: @MainActor (ReusableImageState) -> Void
    private var source: Source?
    private var options: KingfisherOptionsInfo = []

    /// - Parameter present: Shows a state. Must hold the view weakly if the view holds the binding.
    public init(present: @escaping @MainActor (ReusableImageState) -> Void) {
        self.present = present
    }

    isolated deinit {
        loader.cancel()
    }

    /// Loads `resource` and shows it; see the form for sources.
    public func bind(to resource: (any Resource)?, options: KingfisherOptionsInfo = []) {
        bind(to: resource?.convertToSource(), options: options)
    }

    /// Shows that `source` is being loaded, then the image or the failure.
    ///
    /// Does nothing if `source` is already being loaded or shown; `nil` unbinds. A failed load is
    /// tried again. `options` are applied after the shared manager's default options. They are not
    /// compared: a change of options alone does not load again. Transitions and the display of
    /// failures are up to the view.
    public func bind(to source: Source?, options: KingfisherOptionsInfo = []) {
        // A changed file counts as another image.
        guard let source = source?.pinned else { return unbind() }
        if source == self.source, !hasFailed { return }
        self.source = source
        self.options = options
        let parsed = KingfisherParsedOptionsInfo(ofView: options)
        _ = loader.load(source, into: BindingSlot(binding: self, source: source), options: parsed)
    }

    /// Cancels the load and shows nothing.
    public func unbind() {
        guard source != nil else { return }
        source = nil
        loader.cancel()
        show(.empty)
    }

    /// Loads again after a failure.
    public func retry() {
        if hasFailed { bind(to: source, options: options) }
    }

    private var hasFailed: Bool { if case .failure = state { true } else { false } }

    fileprivate func show(_ state: ReusableImageState, of source: Source) {
        if source == self.source { show(state) }
    }

    private func show(_ state: ReusableImageState) {
        self.state = state
        present(state)
    }
}

/// A binding, with its source at the start of a load.
@MainActor private struct BindingSlot: ImageSlot {
    weak var binding: ReusableImageBinding?
    let source: Source

    var isThere: Bool { binding != nil }

    var isEmpty: Bool { true }

    /// The states have no case for previews.
    var showsPreviews: Bool { false }

    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {}

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        binding?.show(.loading(source), of: source)
    }

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo) {
        binding?.show(.success(image), of: source)
    }

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo) {
        binding?.show(.failure(error, source), of: source)
    }
}
