import Foundation
import Halcyon
import HalcyonGTK

enum FormatsPage {
    private static let limit = 60

    @MainActor static func make(_ gallery: Gallery) -> View {
        let tiles = gallery.pictures.prefix(limit).map { picture in
            let view = ImageView().fixed(width: 170, height: 130)
            let tile = Tile(view, title: picture.title, detail: "…")
            view.kf.indicatorType = .activity
            view.kf.setImage(
                with: picture.source(), options: [.transition(.fade(0.25)), .cacheMemoryOnly]
            ) { [weak tile] result in
                gallery.ledger.note(result)
                switch result {
                case .success(let value):
                    Task { tile?.detail = await describe(value) }
                case .failure(let error): tile?.detail = error.localizedDescription
                }
            }
            return tile
        }
        return Page(
            "Formats", "JPEG, PNG, GIF, WebP, AVIF, HEIC, JPEG XL, TIFF, SVG, BMP and ICO.",
            content: TileGrid(tiles, columns: 1...6))
    }

    /// Format, pixels and bytes. Telling the bytes may take as long as making them.
    @concurrent nonisolated private static func describe(_ value: RetrieveImageResult) async
        -> String
    {
        let size = value.image.pixelSize
        let extent = "\(size.width) × \(size.height)"
        guard let data = value.data() else { return extent }
        return "\(data.kf.imageFormat.rawValue) · \(extent) · \((data.count + 500) / 1000) kB"
    }
}
