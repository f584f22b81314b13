import CGtk4
public import Foundation
public import Halcyon

/// A view that shows one image and can do all of `kf`: placeholders, indicators, transitions.
///
/// It never decodes or resizes on the main thread: an image that is not rendered yet is rendered on
/// another thread first, and the GPU does the scaling. It shows the first frame of an animation;
/// `AnimatedImageView` plays it.
@MainActor open class ImageView: Canvas, KFCrossPlatformImageView {
    public let imageViewState = ImageViewState()

    private lazy var source = PictureSource { [weak self] in self?.pictureChanged() }
    private let stage = TransitionStage()
    private var overlays: [Overlay] = []
    private var lastNaturalSize: CGSize?
    private var clickGesture: OpaquePointer?
    private var waitingForSize: (@MainActor (ImageView) -> Void)?

    private struct Overlay {
        let view: View
        let placement: OverlayPlacement
    }

    /// A view that shows `image`.
    public init(image: KFCrossPlatformImage? = nil) {
        super.init(role: .image)
        stage.serve(self)
        gtk_widget_set_overflow(gtkWidget, GTK_OVERFLOW_HIDDEN)
        self.image = image
    }

    isolated deinit {
        stage.end()
    }

    // MARK: The image

    /// The image on show; `nil` shows none.
    open var image: KFCrossPlatformImage? {
        get { source.image }
        set {
            stage.contentWillChange()
            source.image = newValue
        }
    }

    /// The picture to draw: that of `image`, or `nil` until it is rendered.
    open var picture: Picture? { source.picture }

    /// The size and position of the image in the view: by default as large as possible, in the
    /// middle.
    public var placement = PicturePlacement() {
        didSet {
            guard placement != oldValue else { return }
            setNeedsLayout()
            setNeedsDisplay()
        }
    }

    /// The scaling of the image; `.fit` by default.
    public var contentMode: PicturePlacement.Mode {
        get { placement.mode }
        set { placement.mode = newValue }
    }

    /// The alignment of an image larger or smaller than the view; centred by default.
    public var alignment: PicturePlacement.Alignment {
        get { placement.alignment }
        set { placement.alignment = newValue }
    }

    /// Whether the view's preferred size is that of its image; `true` by default.
    ///
    /// Otherwise it is the `requestedSize`, and another image needs no layout, as suits the cells
    /// of a list.
    public var sizesToImage = true {
        didSet { if sizesToImage != oldValue { pictureChanged() } }
    }

    /// The radius of the view's corners; `nil`, the default, leaves them as they are.
    ///
    /// Fractions are of the view's width or height. The radius is limited to half of the shorter
    /// side.
    public var cornerRadius: Radius? {
        didSet { if cornerRadius != oldValue { setNeedsDisplay() } }
    }

    /// Which corners are rounded; all by default.
    public var roundedCorners: RectCorner = .all {
        didSet { if roundedCorners != oldValue { setNeedsDisplay() } }
    }

    /// Updates layout and drawing; to be called by a subclass that overrides `picture` when that
    /// changes.
    public func pictureChanged() {
        // A view of fixed size need not be laid out anew for each image.
        if naturalSize != lastNaturalSize {
            lastNaturalSize = naturalSize
            setNeedsLayout()
        }
        setNeedsDisplay()
    }

    // MARK: Images of the view's own size

    /// Whether images are loaded no larger than the view needs, as long as a load names no processor;
    /// `false` by default.
    ///
    /// The size is the view's when loading begins, or the `requestedSize` before its first layout;
    /// without either, images keep their original size. A load that need not begin at once is best
    /// begun by `whenSized`.
    public var downsamplesToSize = false

    /// The area to downsample images to; `nil` if they are not downsampled to the view's size.
    open var displayArea: DisplayArea? {
        guard downsamplesToSize, contentMode != .center,
            let size = size == .zero ? requestedSize : size
        else { return nil }
        return DisplayArea(
            size: size, scale: scaleFactor,
            contentMode: contentMode == .fit ? .aspectFit : .aspectFill)
    }

    /// Calls `body` as soon as the view has a size: at once, or after its first layout.
    ///
    /// A later call replaces one that is still waiting. `body` gets the view as its argument and
    /// should not capture it: the call is dropped when the view is released.
    public func whenSized(_ body: @escaping @MainActor (ImageView) -> Void) {
        guard size == .zero else { return body(self) }
        waitingForSize = body
    }

    // MARK: Animation of changes

    /// The clock of transitions: that of the view's window by default.
    public lazy var frameTicker: any FrameTicker = WidgetFrameTicker(self)

    /// Whether all frames of an animation are decoded before it is shown; `false`, as this view
    /// shows the first one only.
    open var preloadsAllAnimationData: Bool { false }

    /// The pose of the content within the view. A change made by the `animations` of a custom
    /// transition is animated.
    public var pose = Pose() {
        didSet { if pose != oldValue { setNeedsDisplay() } }
    }

    /// Whether a transition is being shown.
    public var isInTransition: Bool { stage.isRunning }

    /// Animates the changes made by `changes`, from the content on the screen before.
    ///
    /// Changes are immediate if the desktop disables animations or the view is not on the screen.
    /// The next image, `endAnimation()` and leaving the screen interrupt the animation.
    open func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (_ finished: Bool) -> Void
    ) {
        stage.run(
            transition, ticker: frameTicker, pose: { pose }, changes: changes,
            completion: completion)
    }

    public func endAnimation() {
        stage.end()
    }

    open override func willDisappear() {
        super.willDisappear()
        stage.disappear()
    }

    // MARK: Failures

    /// Whether a click on the view retries a failed load, as `kf.retryFailedLoad()` does; `false`
    /// by default.
    public var retriesOnClick: Bool {
        get { clickGesture != nil }
        set {
            guard newValue != retriesOnClick else { return }
            if let clickGesture {
                gtk_widget_remove_controller(gtkWidget, clickGesture)
                self.clickGesture = nil
            } else if let gesture = gtk_gesture_click_new() {
                Signal.connect(UnsafeMutableRawPointer(gesture), "released") { [weak self] in
                    self?.kf.retryFailedLoad()
                }
                // The widget owns it from here on.
                gtk_widget_add_controller(gtkWidget, gesture)
                clickGesture = gesture
            }
        }
    }

    // MARK: Views on top

    /// Puts `view`, which must be a `View`, on top of the image.
    public func addOverlay(_ view: any KFCrossPlatformView, placement: OverlayPlacement) {
        overlays.append(Overlay(view: adopt(view), placement: placement))
    }

    public func removeOverlay(_ view: any KFCrossPlatformView) {
        guard let index = overlays.firstIndex(where: { $0.view === view }) else { return }
        gtk_widget_unparent(overlays.remove(at: index).view.gtkWidget)
    }

    open func makeActivityView() -> any ActivityView { Spinner() }

    /// A view that plays animations and keeps the size of its image.
    open func makeImageView() -> any KFCrossPlatformImageView {
        let view = AnimatedImageView()
        view.contentMode = .center
        return view
    }

    // MARK: Drawing and layout

    /// Draws the image, and on top of it the other views, with the corners cut off.
    open override func draw(in snapshot: Snapshot) {
        stage.draw(in: snapshot, pose: pose) { drawClipped(in: $0) }
    }

    private func drawClipped(in snapshot: Snapshot) {
        let area = CGRect(origin: .zero, size: size)
        guard let radius = cornerRadius?.compute(with: area.size), radius > 0 else {
            return drawContent(in: snapshot)
        }
        snapshot.clipped(to: area, radius: radius, corners: roundedCorners) {
            drawContent(in: snapshot)
        }
    }

    /// Draws the image, and on top of it the other views.
    open func drawContent(in snapshot: Snapshot) {
        if let picture {
            snapshot.draw(picture, placement: placement, size: size, scaleFactor: scaleFactor)
        }
        drawChildren(in: snapshot)
    }

    private var naturalSize: CGSize? { sizesToImage ? picture?.size : nil }

    open override var heightDependsOnWidth: Bool { sizesToImage && contentMode == .fit }

    /// A minimum of 0, and the image's size as the preferred one.
    open override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        guard let size = naturalSize, size.width > 0, size.height > 0 else { return (0, 0) }
        switch direction {
        case .horizontal: return (0, size.width)
        case .vertical:
            guard contentMode == .fit, let width = other else { return (0, size.height) }
            return (0, min(width, size.width) * size.height / size.width)
        }
    }

    open override func layout(size: CGSize) {
        if waitingForSize != nil, size.width > 0, size.height > 0 {
            // `body` may request another layout, which has to wait for the end of this one.
            Task { [weak self] in self?.tellSize() }
        }
        for overlay in overlays {
            let extent = overlay.placement.extent(of: overlay.view, in: size)
            let offset = overlay.placement.offset
            var origin = graphene_point_t(
                x: Float(((size.width - extent.width) / 2 + offset.x).rounded()),
                y: Float(((size.height - extent.height) / 2 + offset.y).rounded()))
            gtk_widget_allocate(
                overlay.view.gtkWidget, gint(points: extent.width), gint(points: extent.height), -1,
                gsk_transform_translate(nil, &origin))
        }
    }

    private func tellSize() {
        let body = waitingForSize
        waitingForSize = nil
        body?(self)
    }
}

extension OverlayPlacement {
    @MainActor fileprivate func extent(of view: View, in bounds: CGSize) -> CGSize {
        switch size {
        case .intrinsicSize: view.extent(for: nil)
        case .full: view.extent(for: bounds)
        case .size(let size): view.extent(for: size)
        }
    }
}

extension View {
    /// Puts `view` below this one.
    func adopt(_ view: any KFCrossPlatformView) -> View {
        guard let view = view as? View else {
            preconditionFailure("A view on a GTK image view has to be a HalcyonGTK.View")
        }
        view.removeFromParent()
        gtk_widget_set_parent(view.gtkWidget, gtkWidget)
        return view
    }

    /// Returns `size`, by default the preferred one, but no less than GTK gives any view: the least.
    func extent(for size: CGSize?) -> CGSize {
        var (minimum, natural) = (GtkRequisition(), GtkRequisition())
        gtk_widget_get_preferred_size(gtkWidget, &minimum, &natural)
        let wanted = size ?? CGSize(width: Int(natural.width), height: Int(natural.height))
        return CGSize(
            width: max(wanted.width, CGFloat(minimum.width)),
            height: max(wanted.height, CGFloat(minimum.height)))
    }

    /// Removes the view from the image view it overlays, or from another parent widget.
    func removeFromParent() {
        guard let parent = gtk_widget_get_parent(gtkWidget) else { return }
        if let carrier = View.of(parent) as? ImageView {
            carrier.removeOverlay(self)
        } else {
            gtk_widget_unparent(gtkWidget)
        }
    }
}
