import Foundation
import Halcyon
import HalcyonGTK

enum FourCutPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let tiles = entries.enumerated().map { index, entry in
            let view = ImageView().fixed(width: 250, height: 290)
            view.contentMode = .fit
            view.cornerRadius = nil
            view.style("bare")
            let tile = Tile(view, title: entry.name, detail: "loading…")
            compose(entry, from: index * 4, into: view, tile, gallery)
            return tile
        }
        return Page(
            "Four-cut", "Four photos, loaded side by side, become one picture.",
            content: TileGrid(tiles, columns: 1...3))
    }

    @MainActor private static func compose(
        _ entry: Entry, from first: Int, into view: ImageView, _ tile: Tile, _ gallery: Gallery
    ) {
        let size = CGSize(width: 540, height: 540 / PhotoLayout.fourCutAspectRatio)
        let layout = PhotoLayout.fourCut(
            size: size, photoCornerRadius: entry.radius, frameCornerRadius: 36,
            background: entry.background)
        let photos = (0..<4).map { gallery.picture(first + $0).source() }
        Task { [weak view, weak tile] in
            do {
                view?.image = try await KingfisherManager.shared.retrieveComposition(
                    layout, photos: photos,
                    options: [
                        .processor(
                            FittingImageProcessor(
                                size: CGSize(width: 260, height: 260), mode: .aspectFill))
                    ])
                tile?.detail = "\(Int(size.width)) × \(Int(size.height))"
            } catch {
                tile?.detail = error.localizedDescription
            }
        }
    }

    private typealias Entry = (name: String, background: Color, radius: CGFloat)

    private static let entries: [Entry] = [
        ("White", .white, 12),
        ("Kingfisher blue", Color(red: 0.05, green: 0.42, blue: 0.58), 12),
        ("Apricot, round photos", Color(red: 0.97, green: 0.73, blue: 0.54), 110),
    ]
}
