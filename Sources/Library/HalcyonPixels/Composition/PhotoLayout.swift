public import Foundation

/// Where the photos of a composed picture go.
///
/// Lengths are in points, from the top left; `scale` makes pixels of them. Edges are rounded to whole
/// pixels, so that slots that touch leave no gap.
public struct PhotoLayout: Hashable, Sendable {
    /// A place for a photo.
    public struct Slot: Hashable, Sendable {
        /// The place. What lies outside of the picture is cut off.
        public var rect: CGRect
        /// The radius of the place's corners. 0 by default.
        public var cornerRadius: CGFloat
        /// The scaling of a photo with other proportions than its slot; the photo is centred.
        /// `.aspectFill`, the default, crops the excess; `.aspectFit` leaves margins that show the
        /// layers below.
        public var contentMode: ContentMode

        public init(
            rect: CGRect, cornerRadius: CGFloat = 0, contentMode: ContentMode = .aspectFill
        ) {
            self.rect = rect
            self.cornerRadius = cornerRadius
            self.contentMode = contentMode
        }
    }

    /// Whether a frame image is drawn before or after the photos.
    public enum FrameOrder: Hashable, Sendable {
        /// The frame is the background of the photos.
        case belowPhotos
        /// The frame has transparent parts through which the photos are seen.
        case abovePhotos
    }

    /// The size of the whole picture.
    public var size: CGSize
    /// Pixels per point, of the layout and of the composed picture. 1 by default.
    public var scale: CGFloat
    /// The places, in the order the photos are given and drawn.
    public var slots: [Slot]
    /// The colour below all photos. Transparent by default.
    public var background: Color
    /// The radius of the corners of the whole picture; outside of them it is transparent.
    /// 0 by default.
    public var cornerRadius: CGFloat
    /// The scaling of the frame image to the whole size. `.aspectFill` by default.
    public var frameContentMode: ContentMode
    /// Below the photos by default.
    public var frameOrder: FrameOrder

    public init(
        size: CGSize, scale: CGFloat = 1, slots: [Slot], background: Color = .clear,
        cornerRadius: CGFloat = 0, frameContentMode: ContentMode = .aspectFill,
        frameOrder: FrameOrder = .belowPhotos
    ) {
        self.size = size
        self.scale = scale
        self.slots = slots
        self.background = background
        self.cornerRadius = cornerRadius
        self.frameContentMode = frameContentMode
        self.frameOrder = frameOrder
    }

    /// Width divided by height that a four-cut picture usually has.
    public static let fourCutAspectRatio: CGFloat = 0.87

    /// The picture of a photo booth: four photos, two by two, in a frame with a wider lower edge.
    ///
    /// Margins and gaps are a fifteenth of the width, the lower margin two and a half times that; the
    /// photos share what remains. They are placed row by row.
    /// - Parameters:
    ///   - size: Of the whole picture, in points; see `fourCutAspectRatio`.
    ///   - scale: Pixels per point.
    ///   - photoCornerRadius: Of each photo, in points.
    ///   - frameCornerRadius: Of the whole picture, in points.
    ///   - background: The colour between the photos.
    public static func fourCut(
        size: CGSize, scale: CGFloat = 1, photoCornerRadius: CGFloat = 10,
        frameCornerRadius: CGFloat = 20, background: Color = .white
    ) -> PhotoLayout {
        let gap = size.width / 15
        let width = (size.width - 3 * gap) / 2
        let height = (size.height - gap - 2.5 * gap - gap) / 2
        let slots = (0..<4).map { index in
            Slot(
                rect: CGRect(
                    x: gap + CGFloat(index % 2) * (width + gap),
                    y: gap + CGFloat(index / 2) * (height + gap), width: width, height: height),
                cornerRadius: photoCornerRadius)
        }
        return PhotoLayout(
            size: size, scale: scale, slots: slots, background: background,
            cornerRadius: frameCornerRadius)
    }
}
