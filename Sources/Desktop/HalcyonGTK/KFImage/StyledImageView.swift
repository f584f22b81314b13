import CGtk4
import Foundation
import Halcyon

/// An image view that draws in the style of a `KFImage`.
///
/// Edges are always snapped to pixels of the screen, so antialiasing would change nothing. An image
/// with caps or tiles is sampled by GTK, whatever the interpolation.
@MainActor final class StyledImageView: ImageView {
    var style = KFImage.Rendering() {
        didSet {
            guard style != oldValue else { return }
            contentMode = style.resizing == nil ? .center : .stretch
            setNeedsDisplay()
        }
    }

    private lazy var resampled = ResampledPicture { [weak self] in self?.setNeedsDisplay() }

    init() {
        super.init()
        contentMode = .center
    }

    override func drawContent(in snapshot: Snapshot) {
        if style.mode == .template {
            snapshot.stencilled(in: textColor) { drawImage(in: snapshot) }
        } else {
            drawImage(in: snapshot)
        }
        drawChildren(in: snapshot)
    }

    private func drawImage(in snapshot: Snapshot) {
        guard let picture else { return resampled.forget() }
        if let resizing = style.resizing, resizing != KFImage.Resizing() {
            snapshot.draw(
                picture, resizing: resizing, size: size,
                isRightToLeft: gtk_widget_get_direction(gtkWidget) == GTK_TEXT_DIR_RTL)
        } else {
            let shown = sampled(picture) ?? picture
            snapshot.draw(shown, placement: placement, size: size, scaleFactor: scaleFactor)
        }
    }

    /// Returns the picture resampled by the style's interpolation; `nil` if GTK's own sampling will
    /// do, until the picture is ready, and while the view changes its size.
    private func sampled(_ picture: Picture) -> Picture? {
        let method: ResampledPicture.Method
        switch style.interpolation {
        case .some(.none): method = .nearest
        case .high: method = .filtered
        case .low, .medium, nil: return nil
        }
        guard let image else { return nil }
        let rect = placement.rect(of: picture.size, in: size, scaleFactor: scaleFactor)
        guard !rect.isEmpty else { return nil }
        return resampled.picture(
            of: image, size: PixelSize(points: rect.size, scale: scaleFactor),
            scaleFactor: scaleFactor, method: method)
    }
}

extension Snapshot {
    fileprivate func stencilled(in color: Color, _ body: () -> Void) {
        var matrix = graphene_matrix_t()
        var offset = graphene_vec4_t()
        var values: [Float] = Array(repeating: 0, count: 16)
        values[15] = Float(color.alpha)
        graphene_matrix_init_from_float(&matrix, &values)
        graphene_vec4_init(&offset, Float(color.red), Float(color.green), Float(color.blue), 0)
        gtk_snapshot_push_color_matrix(pointer, &matrix, &offset)
        body()
        gtk_snapshot_pop(pointer)
    }
}
