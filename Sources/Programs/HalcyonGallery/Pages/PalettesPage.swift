import Foundation
import Halcyon
import HalcyonGTK

/// The main colours of pictures, and words that can be read on them.
enum PalettesPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let tiles = gallery.pictures.prefix(9).map { picture in
            let view = ImageView().fixed(width: 230, height: 150)
            let colours = PaletteView()
            let tile = Box(.column, spacing: 6, [view.expand(vertically: false), colours])
            view.kf.setImage(with: picture.source(), options: [.transition(.fade(0.25))]) {
                [weak colours] result in
                gallery.ledger.note(result)
                guard case .success(let value) = result else { return }
                Task {
                    // A picture without visible pixels has no colours.
                    guard let palette = try? await value.image.kf.palette(count: 5) else { return }
                    colours?.show(palette, title: picture.title)
                }
            }
            return tile
        }
        return Page(
            "Palettes", "The main colours of a picture, and a title that can be read on the first.",
            content: TileGrid(tiles, columns: 1...4))
    }
}

/// A title on the dominant colour, and the other colours below, as wide as their parts of the picture.
@MainActor private final class PaletteView: Box {
    private static let width = 230.0

    init() {
        super.init(.column, spacing: 4)
    }

    func show(_ palette: ColorPalette, title: String) {
        let background = palette.dominant ?? palette.average
        let text = background.textColor(preferring: palette.colors)
        append(
            Label(title, style: "swatch-title").coloured(text, on: background)
                .expand(vertically: false))
        let bar = Box(.row, spacing: 2)
        let total = palette.swatches.reduce(0) { $0 + $1.share }
        for swatch in palette.swatches {
            let width = max(6, (Self.width * swatch.share / total).rounded(.down) - 2)
            let view = ImageView.patch(swatch.color, width: width, height: 18)
            view.cornerRadius = .point(3)
            bar.append(view)
        }
        append(bar.leading())
        let contrast = (background.contrastRatio(to: text) * 10).rounded() / 10
        append(Label("contrast \(contrast) : 1", style: "detail"))
    }
}
