import CGtk4
public import Foundation
public import Halcyon

/// The view of a `KFImage` or a `KFAnimatedImage`: the image, and the placeholder or failure view in its
/// place.
///
/// Appearing and disappearing are GTK's map and unmap.
@MainActor public final class KFImageView: Canvas {
    /// The clock of transitions: that of the view's window by default.
    public lazy var frameTicker: any FrameTicker = WidgetFrameTicker(self)

    /// The view that shows the image: an `AnimatedImageView` for a `KFAnimatedImage`.
    public private(set) var imageView: ImageView

    private var context: KFImage.Context
    private var binder = ImageBinder()
    private let stage = TransitionStage()
    /// The image view, or what `contentConfigure` made of it.
    private var content: View
    private var overlay: Overlay?

    private struct Overlay {
        let kind: KFImage.Presentation.Overlay
        let view: View
    }

    /// A view of what `image` describes.
    public init(_ image: some KFImageProtocol) {
        context = image.context
        imageView = Self.makeImageView(for: context)
        content = imageView
        super.init()
        gtk_widget_set_overflow(gtkWidget, GTK_OVERFLOW_HIDDEN)
        stage.serve(self)
        begin()
    }

    isolated deinit {
        stage.end()
    }

    // MARK: The description

    /// Shows what `image` describes from now on.
    ///
    /// A description of the same source and processor takes over the image, or the load that runs, with
    /// the callbacks of the earlier one. Any other begins anew, after the earlier one has disappeared.
    public func update(_ image: some KFImageProtocol) {
        let (old, new) = (context, image.context)
        context = new
        guard old == new, old.rendering.isAnimated == new.rendering.isAnimated else {
            return replace(old)
        }
        configure()
        if isMapped { binder.appear(new) } else { binder.prepare(new) }
    }

    /// Begins anew what could not be loaded.
    public func retry() {
        binder.start(context)
    }

    /// Whether the image is there and seen.
    public var isLoaded: Bool { binder.isLoaded }

    private func replace(_ old: KFImage.Context) {
        stage.contentWillChange()
        binder.renderer = nil
        binder.disappear(old)
        removeOverlay()
        gtk_widget_unparent(content.gtkWidget)
        imageView = Self.makeImageView(for: context)
        binder = ImageBinder()
        begin()
        if isMapped { binder.appear(context) }
    }

    // MARK: The views

    private static func makeImageView(for context: KFImage.Context) -> ImageView {
        context.rendering.isAnimated ? AnimatedImageView() : StyledImageView()
    }

    /// Takes the views and the load of a new description into use.
    private func begin() {
        configure()
        content = adopt(context.contentConfiguration?(imageView) ?? imageView)
        setNeedsLayout()
        binder.renderer = self
        binder.prepare(context)
    }

    private func configure() {
        (imageView as? StyledImageView)?.style = context.rendering
        for configuration in context.configurations { configuration(imageView) }
    }

    private func showOverlay(_ kind: KFImage.Presentation.Overlay) {
        guard overlay?.kind != kind else { return }
        removeOverlay()
        let made: (any KFCrossPlatformView)? =
            switch kind {
            case .none: nil
            case .placeholder: context.placeholder?(binder.progress)
            case .failureView: context.failureView?()
            }
        guard let made else { return }
        overlay = Overlay(kind: kind, view: adopt(made))
        setNeedsLayout()
    }

    private func removeOverlay() {
        guard let overlay else { return }
        self.overlay = nil
        gtk_widget_unparent(overlay.view.gtkWidget)
        setNeedsLayout()
    }

    // MARK: The screen

    public override func didAppear() {
        super.didAppear()
        binder.appear(context)
    }

    public override func willDisappear() {
        super.willDisappear()
        stage.disappear()
        binder.disappear(context)
    }

    public override func draw(in snapshot: Snapshot) {
        stage.draw(in: snapshot, pose: Pose()) { snapshot in
            if binder.presentation.isImageVisible {
                gtk_widget_snapshot_child(gtkWidget, content.gtkWidget, snapshot.pointer)
            }
            if let overlay {
                gtk_widget_snapshot_child(gtkWidget, overlay.view.gtkWidget, snapshot.pointer)
            }
        }
    }

    /// The view that makes the size of the whole; `nil` for none.
    private var measured: View? {
        binder.presentation.imageDefinesLayout ? content : overlay?.view
    }

    public override var heightDependsOnWidth: Bool {
        measured.map {
            gtk_widget_get_request_mode($0.gtkWidget) != GTK_SIZE_REQUEST_CONSTANT_SIZE
        } ?? false
    }

    public override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        guard let measured else { return (0, 0) }
        var (minimum, natural): (gint, gint) = (0, 0)
        gtk_widget_measure(
            measured.gtkWidget,
            direction == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL,
            other.map { gint(points: $0) } ?? -1, &minimum, &natural, nil, nil)
        return (CGFloat(minimum), CGFloat(natural))
    }

    public override func layout(size: CGSize) {
        for view in [content, overlay?.view].compactMap({ $0 }) {
            let extent = view.extent(for: size)
            gtk_widget_allocate(
                view.gtkWidget, gint(points: extent.width), gint(points: extent.height), -1, nil)
        }
    }
}

extension KFImageView: KFImageRenderer {
    public func imageBinder(
        _ binder: ImageBinder, didChangeTo presentation: KFImage.Presentation,
        transition: ImageTransition
    ) {
        guard binder === self.binder else { return }
        switch transition {
        case .none:
            // Progress alone ends no transition.
            if presentation.image !== imageView.image { stage.contentWillChange() }
            show(presentation)
        case .custom(_, _, let animations?, let completion):
            guard let image = presentation.image else { return show(presentation) }
            imageView.animate(transition) { [imageView] in
                self.show(presentation, settingImage: false)
                animations(imageView, image)
            } completion: {
                completion?($0)
            }
        case .custom(_, _, nil, let completion):
            run(transition, to: presentation) { completion?($0) }
        case .fade, .flipFromLeft, .flipFromRight, .flipFromTop, .flipFromBottom:
            run(transition, to: presentation) { _ in }
        }
    }

    private func run(
        _ transition: ImageTransition, to presentation: KFImage.Presentation,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        stage.run(
            transition, ticker: frameTicker, pose: { Pose() }, changes: { show(presentation) },
            completion: completion)
    }

    private func show(_ presentation: KFImage.Presentation, settingImage: Bool = true) {
        if settingImage { imageView.image = presentation.image }
        showOverlay(presentation.overlay)
        if let overlay, overlay.kind == .placeholder {
            (overlay.view as? any ProgressView)?.showProgress(
                received: binder.progress.completedUnitCount, total: binder.progress.totalUnitCount)
        }
        setNeedsLayout()
        setNeedsDisplay()
    }
}

extension KFImageProtocol {
    /// A view of what this describes; it loads when it comes on the screen.
    ///
    /// A later description is given to the same view by `update(_:)`.
    public func makeView() -> KFImageView {
        KFImageView(self)
    }
}
