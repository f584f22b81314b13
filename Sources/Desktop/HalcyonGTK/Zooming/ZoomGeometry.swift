import Foundation
import Halcyon

/// The scale and position of a picture in a view that zooms. Points of the view are in pixels of the screen, from its
/// top left corner.
struct ZoomGeometry: Equatable {
    /// Width and height of the picture, in its pixels.
    private(set) var picture = CGSize.zero
    /// Width and height of the view, in pixels of the screen.
    private(set) var view = CGSize.zero
    /// Pixels of the screen per pixel of the picture.
    private(set) var zoom: CGFloat = 1
    /// The point of the picture in the middle of the view, in its pixels.
    private(set) var center = CGPoint.zero
    /// Whether the whole picture is shown, also after the view gets another size.
    private(set) var isFitted = true

    private static let greatestZoom: CGFloat = 32

    /// The zoom that shows the whole picture, but enlarges none.
    var fit: CGFloat {
        guard picture.width > 0, picture.height > 0, view.width > 0, view.height > 0 else {
            return 1
        }
        return min(1, view.width / picture.width, view.height / picture.height)
    }

    /// The place of the picture, which may reach beyond the view.
    var rect: CGRect {
        CGRect(
            x: view.width / 2 - center.x * zoom, y: view.height / 2 - center.y * zoom,
            width: picture.width * zoom, height: picture.height * zoom)
    }

    /// The part of the picture that is seen, in its pixels.
    var visible: CGRect {
        let left = max(0, center.x - view.width / 2 / zoom)
        let top = max(0, center.y - view.height / 2 / zoom)
        let right = min(picture.width, center.x + view.width / 2 / zoom)
        let bottom = min(picture.height, center.y + view.height / 2 / zoom)
        return CGRect(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
    }

    mutating func show(_ picture: CGSize) {
        self.picture = picture
        zoomToFit()
    }

    mutating func resize(_ view: CGSize) {
        self.view = view
        if isFitted { zoomToFit() } else { settle() }
    }

    mutating func zoomToFit() {
        zoom = fit
        isFitted = true
        settle()
    }

    /// Zooms to `zoom`, as far as that is possible. What is at `point` stays there.
    mutating func zoom(to zoom: CGFloat, around point: CGPoint? = nil) {
        guard !zoom.isNaN else { return }
        let point = point ?? CGPoint(x: view.width / 2, y: view.height / 2)
        let offset = CGPoint(x: point.x - view.width / 2, y: point.y - view.height / 2)
        let new = min(max(zoom, fit), Self.greatestZoom)
        center.x += offset.x / self.zoom - offset.x / new
        center.y += offset.y / self.zoom - offset.y / new
        self.zoom = new
        isFitted = new == fit
        settle()
    }

    /// Moves the view over the picture, to its edges at most.
    mutating func pan(x: CGFloat, y: CGFloat) {
        center.x += x / zoom
        center.y += y / zoom
        settle()
    }

    mutating func move(to center: CGPoint) {
        self.center = center
        settle()
    }

    /// Keeps the picture in the view: in its middle where it is smaller.
    private mutating func settle() {
        func settled(_ center: CGFloat, _ length: CGFloat, _ room: CGFloat) -> CGFloat {
            let half = room / 2 / zoom
            return length <= 2 * half ? length / 2 : min(max(center, half), length - half)
        }
        center.x = settled(center.x, picture.width, view.width)
        center.y = settled(center.y, picture.height, view.height)
    }
}

/// A square of a picture at one over `factor` of its size.
struct ZoomTile: Hashable {
    static let side = 512

    let factor: Int
    let column: Int
    let row: Int

    /// The largest tile in bytes.
    static func byteCount(bytesPerPixel: Int) -> Int { side * side * bytesPerPixel }

    /// The place of the tile in the picture, in the picture's pixels.
    func rect(in picture: CGSize) -> CGRect {
        let length = CGFloat(factor * Self.side)
        let (x, y) = (CGFloat(column) * length, CGFloat(row) * length)
        return CGRect(
            x: x, y: y, width: min(length, picture.width - x),
            height: min(length, picture.height - y))
    }

    /// The reduction at which no detail is lost on the screen, unless more than `count` tiles were seen then.
    static func factor(for geometry: ZoomGeometry, atMost count: Int) -> Int {
        var factor = 1
        while CGFloat(2 * factor) * geometry.zoom <= 1 { factor *= 2 }
        while tiles(of: geometry, factor: factor).count > max(1, count) { factor *= 2 }
        return factor
    }

    /// The tiles that are seen, row by row, and with `margin` so many around them.
    static func tiles(of geometry: ZoomGeometry, factor: Int, margin: Int = 0) -> [ZoomTile] {
        let (visible, length) = (geometry.visible, CGFloat(factor * side))
        guard visible.width > 0, visible.height > 0 else { return [] }
        func places(_ start: CGFloat, _ end: CGFloat, of whole: CGFloat) -> ClosedRange<Int> {
            let last = Int((whole / length).rounded(.up)) - 1
            let from = max(0, min(last, Int(start / length) - margin))
            return from...max(from, min(last, Int((end / length).rounded(.up)) - 1 + margin))
        }
        let columns = places(visible.minX, visible.maxX, of: geometry.picture.width)
        return places(visible.minY, visible.maxY, of: geometry.picture.height).flatMap { row in
            columns.map { ZoomTile(factor: factor, column: $0, row: row) }
        }
    }

    /// The smallest area that all of `tiles`, which are of one factor, are in, in tiles.
    static func bounds(
        of tiles: [ZoomTile]
    ) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>)? {
        let (columns, rows) = (tiles.map(\.column), tiles.map(\.row))
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(),
            let bottom = rows.max()
        else { return nil }
        return (left...right, top...bottom)
    }
}
