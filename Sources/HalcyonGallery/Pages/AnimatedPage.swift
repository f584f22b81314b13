import Foundation
import Halcyon
import HalcyonGTK

/// Animated images, as they are and processed.
enum AnimatedPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let sample = Picture(
            title: "kingfisher.gif", url: gallery.sample("kingfisher.gif"), isAnimated: true)
        let animations = gallery.pictures.filter(\.isAnimated).prefix(6)
        let shown = animations.isEmpty ? [sample] : Array(animations)
        var tiles: [View] = []
        for picture in shown {
            tiles.append(tile(picture, picture.title, "as it is", nil, gallery))
        }
        tiles.append(
            tile(
                sample, "Tint", "each frame processed",
                TintImageProcessor(tint: Color(red: 0.1, green: 0.2, blue: 0.6, alpha: 0.45)),
                gallery))
        tiles.append(
            tile(
                sample, "Round", "each frame processed",
                RoundCornerImageProcessor(radius: .heightFraction(0.5)), gallery))
        return Page(
            "Animated images", "Frames are decoded ahead within a budget of memory.",
            content: TileGrid(tiles, columns: 2...4))
    }

    @MainActor private static func tile(
        _ picture: Picture, _ title: String, _ detail: String, _ processor: (any ImageProcessor)?,
        _ gallery: Gallery
    ) -> Tile {
        let view = AnimatedPictureView(width: 230, height: 170)
        // What a processor makes of the shape is seen whole.
        if processor is RoundCornerImageProcessor {
            view.contentMode = .fit
            view.style("bare")
        }
        view.kf.setImage(
            with: picture.source(), options: processor.map { [.processor($0)] } ?? []
        ) { gallery.ledger.note($0) }
        return Tile(view, title: title, detail: detail)
    }
}
