import Foundation
import Halcyon
import HalcyonGTK

enum AnimatedPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let samples = formats.map { file, _ in
            Picture(title: file, url: gallery.sample(file), isAnimated: true)
        }
        let animations = gallery.pictures.filter(\.isAnimated).prefix(6)
        let shown = animations.isEmpty ? samples : Array(animations)
        let plain = shown.map { picture in
            let detail = formats.first { $0.file == picture.title }?.detail ?? "as it is"
            return tile(picture, picture.title, detail, nil, gallery)
        }
        let processed = processors.map { name, processor in
            tile(samples[0], name, "each frame processed", processor, gallery)
        }
        return Page(
            "Animated images", "Frames are decoded ahead within a budget of memory.",
            content: TileGrid(plain + processed, columns: 1...4))
    }

    private static let processors: [(name: String, processor: any ImageProcessor)] = [
        ("Tint", TintImageProcessor(tint: Color(red: 0.1, green: 0.2, blue: 0.6, alpha: 0.45))),
        ("Round", RoundCornerImageProcessor(radius: .heightFraction(0.5))),
    ]

    private static let formats: [(file: String, detail: String)] = [
        ("kingfisher.gif", "GIF: 256 colours"),
        ("kingfisher.avif", "AVIF: all colours, a fifth of the bytes"),
        ("kingfisher.png", "PNG: with opacity"),
    ]

    @MainActor private static func tile(
        _ picture: Picture, _ title: String, _ detail: String, _ processor: (any ImageProcessor)?,
        _ gallery: Gallery
    ) -> Tile {
        let view = AnimatedImageView().fixed(width: 230, height: 170)
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
