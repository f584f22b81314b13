import CGtk4
import Foundation
import Halcyon

extension Snapshot {
    /// Draws `picture` into an area from the origin to `size`: its corners as large as they are, its
    /// edges and its middle as `resizing` says.
    func draw(
        _ picture: Picture, resizing: KFImage.Resizing, size: CGSize, isRightToLeft: Bool
    ) {
        let insets = resizing.capInsets
        let columns = Self.segments(
            of: picture.size.width, in: size.width,
            caps: isRightToLeft
                ? (insets.trailing, insets.leading) : (insets.leading, insets.trailing))
        let rows = Self.segments(
            of: picture.size.height, in: size.height, caps: (insets.top, insets.bottom))
        for row in rows {
            for column in columns {
                drawPart(
                    of: picture,
                    from: CGRect(
                        x: column.source.lowerBound, y: row.source.lowerBound,
                        width: column.source.length, height: row.source.length),
                    to: CGRect(
                        x: column.target.lowerBound, y: row.target.lowerBound,
                        width: column.target.length, height: row.target.length),
                    isTiled: resizing.mode == .tile)
            }
        }
    }

    /// A part of the length of a picture and its place in the length of an area.
    struct Segment: Hashable {
        var source: Range<CGFloat>
        var target: Range<CGFloat>
    }

    /// The parts of `length` that keep their size at both ends and the one between them, in an area of
    /// length `target`. Caps that do not fit become smaller together.
    static func segments(
        of length: CGFloat, in target: CGFloat, caps: (start: CGFloat, end: CGFloat)
    ) -> [Segment] {
        guard length > 0, target > 0, length.isFinite, target.isFinite else { return [] }
        // Infinite caps are limited, as no fraction of them can be computed.
        let (start, end) = (min(max(0, caps.start), 1e9), min(max(0, caps.end), 1e9))
        let shrinking = min(1, length / max(start + end, .leastNonzeroMagnitude))
        let source = (start: start * shrinking, end: end * shrinking)
        let squeezing = min(1, target / max(source.start + source.end, .leastNonzeroMagnitude))
        let shown = (start: source.start * squeezing, end: source.end * squeezing)
        return [
            Segment(source: 0..<source.start, target: 0..<shown.start),
            Segment(
                source: source.start..<max(source.start, length - source.end),
                target: shown.start..<max(shown.start, target - shown.end)),
            Segment(
                source: max(source.start, length - source.end)..<length,
                target: max(shown.start, target - shown.end)..<target),
        ].filter { $0.source.length > 0 && $0.target.length > 0 }
    }

    private func drawPart(
        of picture: Picture, from source: CGRect, to target: CGRect, isTiled: Bool
    ) {
        if isTiled, source.width < target.width || source.height < target.height {
            let tile = CGRect(origin: target.origin, size: source.size)
            var (bounds, child) = (graphene_rect_t(target), graphene_rect_t(tile))
            gtk_snapshot_push_repeat(pointer, &bounds, &child)
            drawPart(of: picture, from: source, to: tile, isTiled: false)
            gtk_snapshot_pop(pointer)
            return
        }
        // A tile is cut, not made smaller.
        let shown = isTiled ? CGRect(origin: target.origin, size: source.size) : target
        let (across, down) = (shown.width / source.width, shown.height / source.height)
        clipped(to: target) {
            draw(
                picture.texture,
                in: CGRect(
                    x: shown.minX - source.minX * across, y: shown.minY - source.minY * down,
                    width: picture.size.width * across, height: picture.size.height * down))
        }
    }
}

extension Range<CGFloat> {
    fileprivate var length: CGFloat { upperBound - lowerBound }
}
