public import Foundation
public import Halcyon

/// Pixels that are ready to be drawn, and their size in points.
@MainActor public struct Picture {
    /// The pixels.
    public let texture: Texture
    /// Width and height in points.
    public let size: CGSize

    /// The picture of `bitmap`; `scale` is pixels per point.
    public init(_ bitmap: Bitmap, scale: CGFloat = 1) {
        texture = Texture(bitmap)
        size = bitmap.size.points(scale: scale)
    }
}

extension Picture: @MainActor Equatable {
    public static func == (left: Picture, right: Picture) -> Bool {
        left.texture == right.texture && left.size == right.size
    }
}

/// The scaling and alignment of a picture in an area of other proportions.
public struct PicturePlacement: Hashable, Sendable {
    /// The scaling of a picture.
    public enum Mode: Hashable, Sendable, CaseIterable {
        /// As large as possible without clipping.
        case fit
        /// As small as possible while covering the area; the rest is clipped.
        case fill
        /// Its own size; the rest is clipped.
        case center
        /// The size of the area, in other proportions.
        case stretch
    }

    /// The alignment of a picture larger or smaller than the area.
    public struct Alignment: Hashable, Sendable {
        /// 0 is left, 1 is right.
        public var x: CGFloat
        /// 0 is the top, 1 is the bottom.
        public var y: CGFloat

        public init(x: CGFloat, y: CGFloat) {
            self.x = x
            self.y = y
        }

        public static let topLeft = Alignment(x: 0, y: 0)
        public static let top = Alignment(x: 0.5, y: 0)
        public static let topRight = Alignment(x: 1, y: 0)
        public static let left = Alignment(x: 0, y: 0.5)
        public static let center = Alignment(x: 0.5, y: 0.5)
        public static let right = Alignment(x: 1, y: 0.5)
        public static let bottomLeft = Alignment(x: 0, y: 1)
        public static let bottom = Alignment(x: 0.5, y: 1)
        public static let bottomRight = Alignment(x: 1, y: 1)
    }

    /// `.fit` by default.
    public var mode: Mode
    /// In the middle by default.
    public var alignment: Alignment

    public init(mode: Mode = .fit, alignment: Alignment = .center) {
        self.mode = mode
        self.alignment = alignment
    }

    /// Returns the rectangle of a picture of `size` points in an area of `bounds` points.
    ///
    /// Edges are snapped to pixels of the screen, so that they are sharp, and a picture with
    /// exactly the pixels of its rectangle is drawn without resampling. `scaleFactor` is pixels of
    /// the screen per point.
    public func rect(of size: CGSize, in bounds: CGSize, scaleFactor: CGFloat = 1) -> CGRect {
        guard size.width > 0, size.height > 0, bounds.width > 0, bounds.height > 0 else {
            return .zero
        }
        let (horizontal, vertical) = (bounds.width / size.width, bounds.height / size.height)
        let shown: CGSize
        switch mode {
        case .fit: shown = size.scaled(by: min(horizontal, vertical))
        case .fill: shown = size.scaled(by: max(horizontal, vertical))
        case .center: shown = size
        case .stretch: return CGRect(origin: .zero, size: bounds)
        }
        let scale = max(1, scaleFactor)
        func snapped(_ length: CGFloat) -> CGFloat { (length * scale).rounded() / scale }
        let width = max(1 / scale, snapped(shown.width))
        let height = max(1 / scale, snapped(shown.height))
        return CGRect(
            x: snapped((bounds.width - width) * alignment.x),
            y: snapped((bounds.height - height) * alignment.y), width: width, height: height)
    }
}

extension CGSize {
    fileprivate func scaled(by factor: CGFloat) -> CGSize {
        CGSize(width: width * factor, height: height * factor)
    }
}

extension Snapshot {
    /// Draws `picture` by `placement` into an area from the origin to `size`, clipped to that area.
    public func draw(
        _ picture: Picture, placement: PicturePlacement, size: CGSize, scaleFactor: CGFloat = 1
    ) {
        let rect = placement.rect(of: picture.size, in: size, scaleFactor: scaleFactor)
        let area = CGRect(origin: .zero, size: size)
        guard !rect.isEmpty else { return }
        if area.contains(rect) {
            draw(picture.texture, in: rect)
        } else {
            clipped(to: area) { draw(picture.texture, in: rect) }
        }
    }
}
