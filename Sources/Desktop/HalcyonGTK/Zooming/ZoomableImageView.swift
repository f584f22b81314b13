import CGtk4
public import Foundation
public import Halcyon

/// An image view to look closely at a picture: shown whole at first, it can be enlarged and moved.
///
/// The wheel, a pinch, the keys + and - and the members below zoom; dragging, the arrow keys and a touchpad move the
/// picture; 0 shows it whole, 1 in its own size, a double click one or the other. A reduced picture comes first, and what
/// is seen becomes sharp when its pixels are decoded, which is on other threads. Of large files only parts are
/// decoded, and no more of them kept than is seen. Animations play.
///
/// ```swift
/// let view = ZoomableImageView()
/// view.onFailure = { error in print(error) }
/// try await view.show(Data(contentsOf: file))
/// view.zoom(to: 1, around: CGPoint(x: 20, y: 20))
/// ```
///
/// Large JPEG (not progressive), PNG (not interlaced) and TIFF files are read in parts; they may have any number of
/// pixels. Other pictures are decoded whole, once, within `DecodingLimits`.
@MainActor open class ZoomableImageView: AnimatedImageView {
    /// Called when the zoom or the visible part has changed, and when the picture has become sharp.
    public var onChange: (@MainActor () -> Void)?

    /// Called when an image that was set, or a part of one, cannot be decoded. `show(_:)` throws instead.
    public var onFailure: (@MainActor (any Error) -> Void)?

    /// The most bytes of decoded parts to keep; 64 MB by default. Where more are seen, they are less sharp.
    public var tileMemoryLimit = 64_000_000

    /// The most bytes of a picture that is decoded whole, where it could be read in parts.
    var wholeBytes = 96_000_000

    var geometry = ZoomGeometry()
    /// The last place of the pointer, in points.
    var pointer: CGPoint?
    /// The geometry before a drag or a pinch.
    var gestureStart = ZoomGeometry()

    /// The image that was set.
    private var original: Image?
    /// The image that tiles are decoded from; `nil` where the picture on show has all pixels.
    private var detailed: Image?
    private var opening: Task<Void, Never>?
    private var tiles: [ZoomTile: Texture] = [:]
    private var pass: (tiles: [ZoomTile], task: Task<Void, Never>)?
    private var hasFailed = false
    /// Count the images that were set, and the calls of `show(_:)`.
    private var (request, showings) = (0, 0)

    /// The longest side of a picture that is shown without tiles, in pixels.
    private static let overviewSide = 2048

    public override init(image: KFCrossPlatformImage? = nil) {
        super.init(image: nil)
        sizesToImage = false
        // Frames are as sharp as they are.
        needsPrescaling = false
        self.image = image
        takeInput()
    }

    isolated deinit {
        opening?.cancel()
        pass?.task.cancel()
    }

    // MARK: The image

    /// The image on show. One that is not decoded yet is decoded on other threads, in parts if it is large.
    open override var image: KFCrossPlatformImage? {
        get { original }
        set {
            guard newValue !== original || newValue == nil else { return }
            adopt(newValue)
            guard let newValue else { return showOverview(nil) }
            if !Self.needsPreparation(newValue) { return showOverview(newValue) }
            showOverview(nil)
            let (request, wholeBytes) = (request, wholeBytes)
            opening = Task { [weak self] in
                do {
                    let opened = try await Self.prepare(newValue, wholeBytes)
                    if self?.request == request { self?.show(opened) }
                } catch {
                    if !Task.isCancelled { self?.onFailure?(error) }
                }
            }
        }
    }

    /// Shows the picture in a file's bytes, whole at first.
    ///
    /// The file may have any number of pixels if it can be read in parts. Returns when the picture can be seen. A
    /// later image, or the cancellation of the task, ends it with a `CancellationError`; the former image stays then,
    /// as it does when the file cannot be read.
    /// - Parameters:
    ///   - data: The bytes of a file in any format that can be decoded.
    ///   - limits: Without a limit on the number of pixels by default.
    /// - Throws: `ImageCodingError`.
    public func show(
        _ data: Data, limits: DecodingLimits = DecodingLimits(maximumPixelCount: nil)
    ) async throws {
        showings += 1
        let own = (showings, request)
        let image = try await Image.opening(data, options: ImageCreatingOptions(limits: limits))
        let opened = try await Self.prepare(image, wholeBytes)
        guard (showings, request) == own, !Task.isCancelled else { throw CancellationError() }
        adopt(image)
        show(opened)
    }

    private typealias Opened = (overview: Image, detailed: Image?)

    /// The reduced picture that is shown first, and the one that tiles are decoded from.
    private static func prepare(_ image: Image, _ wholeBytes: Int) async throws -> Opened {
        guard needsPreparation(image) else { return (image, nil) }
        let factor = CGFloat(overviewSide) / CGFloat(image.pixelSize.longestSide)
        guard factor < 1 else { return (try await image.rendered(), nil) }
        let bytes = image.pixelSize.pixelCount * bytesPerPixel(of: image)
        let detailed =
            image.isReadByAreas && bytes > wholeBytes ? image : try await image.rendered()
        let size = PixelSize(points: image.pixelSize.points(scale: 1), scale: factor)
        return (try await detailed.reduced(to: size), detailed)
    }

    /// Whether the image is too large to be shown as it is, or not decoded yet; animations are shown as they are.
    private static func needsPreparation(_ image: Image) -> Bool {
        !image.isAnimation
            && (!image.isRendered || image.pixelSize.longestSide > overviewSide)
    }

    private static func bytesPerPixel(of image: Image) -> Int {
        (image.hasAlpha ? 4 : 3) * image.depth.rawValue / 8
    }

    private func adopt(_ image: Image?) {
        request += 1
        opening?.cancel()
        endPass()
        (original, detailed, tiles, hasFailed) = (image, nil, [:], false)
        geometry.show(image?.pixelSize.points(scale: 1) ?? .zero)
    }

    private func show(_ opened: Opened) {
        detailed = opened.detailed
        showOverview(opened.overview)
    }

    private func showOverview(_ image: Image?) {
        super.image = image
        geometryChanged()
    }

    // MARK: Zoom and place

    /// Pixels of the screen per pixel of the image: 1 shows it in its own size. Between the zoom that shows the whole
    /// image, or 1 if that is less, and 32.
    public var zoom: CGFloat {
        get { geometry.zoom }
        set { zoom(to: newValue) }
    }

    /// Whether the whole image is shown, and stays so when the view gets another size; `true` for a new image.
    public var isFitted: Bool { geometry.isFitted }

    /// The part of the image that is seen, in its pixels.
    public var visibleArea: CGRect { geometry.visible }

    /// Sets ``zoom``. What is at `point`, by default the middle of the view, stays there.
    public func zoom(to zoom: CGFloat, around point: CGPoint? = nil) {
        change { $0.zoom(to: zoom, around: point.map(pixels)) }
    }

    /// Shows the whole image, but not enlarged.
    public func zoomToFit() { change { $0.zoomToFit() } }

    /// Moves the view over the image by so many points, to its edges at most.
    ///
    /// - Returns: Whether it has moved.
    @discardableResult
    public func pan(x: CGFloat, y: CGFloat) -> Bool {
        change { $0.pan(x: x * scaleFactor, y: y * scaleFactor) }
    }

    @discardableResult
    func change(_ body: (inout ZoomGeometry) -> Void) -> Bool {
        let old = geometry
        body(&geometry)
        guard geometry != old else { return false }
        geometryChanged()
        return true
    }

    func pixels(_ point: CGPoint) -> CGPoint {
        CGPoint(x: point.x * scaleFactor, y: point.y * scaleFactor)
    }

    private func geometryChanged() {
        updateTiles()
        setNeedsDisplay()
        onChange?()
    }

    open override func layout(size: CGSize) {
        super.layout(size: size)
        let pixels = CGSize(width: size.width * scaleFactor, height: size.height * scaleFactor)
        guard geometry.view != pixels else { return }
        geometry.resize(pixels)
        updateTiles()
        // Other views may not be changed while they are being laid out.
        Task { [weak self] in self?.onChange?() }
    }

    // MARK: Tiles

    /// Whether all that is seen is shown in full sharpness; `false` while parts of it are being decoded.
    public var isSharp: Bool { picture != nil && missingTiles.isEmpty }

    /// The memory of decoded parts, in bytes; without that of the reduced picture.
    public var tileBytes: Int { tiles.count * tileBytesAtMost }

    private var tileBytesAtMost: Int {
        ZoomTile.byteCount(bytesPerPixel: detailed.map(Self.bytesPerPixel) ?? 4)
    }

    private var seenTiles: [ZoomTile] {
        guard let detailed, let overview = super.image else { return [] }
        // The reduced picture has as many pixels.
        let reduction =
            CGFloat(overview.pixelSize.longestSide) / CGFloat(detailed.pixelSize.longestSide)
        guard geometry.zoom > reduction else { return [] }
        let factor = ZoomTile.factor(for: geometry, atMost: tileMemoryLimit / tileBytesAtMost)
        guard reduction * CGFloat(factor) < 1 else { return [] }
        return ZoomTile.tiles(of: geometry, factor: factor)
    }

    private var missingTiles: [ZoomTile] { seenTiles.filter { tiles[$0] == nil } }

    /// Gives up tiles that are out of sight, and decodes those that are missing.
    private func updateTiles() {
        guard isMapped, !hasFailed else { return }
        let seen = seenTiles
        let missing = seen.filter { tiles[$0] == nil }
        giveUpTiles(seen, isComplete: missing.isEmpty)
        if let pass {
            // The others follow when it has ended.
            if missing.contains(where: pass.tiles.contains) { return }
            endPass()
        }
        if !missing.isEmpty { decode(missing) }
    }

    private func giveUpTiles(_ seen: [ZoomTile], isComplete: Bool) {
        let factor = seen.first?.factor
        let near = Set(factor.map { ZoomTile.tiles(of: geometry, factor: $0, margin: 1) } ?? [])
        tiles = tiles.filter { tile, _ in
            // Tiles of the last zoom are shown until those of the new one are there.
            let isStandIn =
                !isComplete && tile.factor != factor
                && tile.rect(in: geometry.picture).intersects(geometry.visible)
            return near.contains(tile) || isStandIn
        }
        if tileBytes > tileMemoryLimit { tiles = tiles.filter { seen.contains($0.key) } }
    }

    private func decode(_ missing: [ZoomTile]) {
        guard let detailed, let factor = missing.first?.factor,
            let (columns, rows) = ZoomTile.bounds(of: missing)
        else { return }
        let whole = detailed.pixelSize.reduced(by: factor)
        let (left, top) = (columns.lowerBound * ZoomTile.side, rows.lowerBound * ZoomTile.side)
        let area = PixelArea(
            left: left, top: top,
            size: PixelSize(
                width: min(columns.count * ZoomTile.side, whole.width - left),
                height: min(rows.count * ZoomTile.side, whole.height - top)))
        let places = rows.flatMap { row in
            columns.map { ZoomTile(factor: factor, column: $0, row: row) }
        }
        let task = Task { [weak self] in
            do {
                let decoded = try await detailed.tiles(
                    of: area, reducedBy: factor, side: ZoomTile.side)
                if !Task.isCancelled { self?.take(zip(places, decoded)) }
            } catch {
                if !Task.isCancelled { self?.stopDecoding(error) }
            }
        }
        pass = (places, task)
    }

    private func take(_ decoded: some Sequence<(ZoomTile, Bitmap)>) {
        pass = nil
        for (tile, bitmap) in decoded where tiles[tile] == nil { tiles[tile] = Texture(bitmap) }
        geometryChanged()
    }

    /// The reduced picture stays. Other parts of a damaged file are not tried.
    private func stopDecoding(_ error: any Error) {
        pass = nil
        hasFailed = true
        onFailure?(error)
    }

    private func endPass() {
        pass?.task.cancel()
        pass = nil
    }

    open override func didAppear() {
        super.didAppear()
        updateTiles()
    }

    /// Gives up all decoded parts.
    open override func willDisappear() {
        super.willDisappear()
        endPass()
        tiles = [:]
    }

    // MARK: Drawing

    open override func drawContent(in snapshot: Snapshot) {
        guard let picture else { return super.drawContent(in: snapshot) }
        snapshot.clipped(to: CGRect(origin: .zero, size: size)) {
            // Transparent pixels must not be drawn twice.
            let isWhole = isSharp && !tiles.isEmpty
            let isOpaque = original?.hasAlpha == false
            if isOpaque || !isWhole {
                snapshot.draw(
                    picture.texture, in: place(CGRect(origin: .zero, size: geometry.picture)))
            }
            guard isOpaque || isWhole else { return }
            for (tile, texture) in tiles.sorted(by: { $0.key.factor > $1.key.factor }) {
                snapshot.draw(texture, in: place(tile.rect(in: geometry.picture)))
            }
        }
        drawChildren(in: snapshot)
    }

    /// The place in the view of a part of the picture, in points; at whole pixels of the screen, so that parts meet.
    private func place(_ part: CGRect) -> CGRect {
        let rect = geometry.rect
        func edge(_ offset: CGFloat, _ start: CGFloat) -> CGFloat {
            (start + offset * geometry.zoom).rounded() / scaleFactor
        }
        let (left, top) = (edge(part.minX, rect.minX), edge(part.minY, rect.minY))
        return CGRect(
            x: left, y: top, width: max(1 / scaleFactor, edge(part.maxX, rect.minX) - left),
            height: max(1 / scaleFactor, edge(part.maxY, rect.minY) - top))
    }
}
