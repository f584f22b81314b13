import Foundation
import Halcyon
import HalcyonGTK

/// Hundreds of images in cells that are used again and again: the samples many times, or pictures of one's own.
enum GridPage {
    private static let count = 600

    @MainActor static func make(_ gallery: Gallery) -> View {
        var configuration = ImageCellConfiguration()
        configuration.options = [.transition(.fade(0.25))]
        configuration.onResult = { _, result in gallery.ledger.note(result) }
        let grid = ImageCollectionView(
            .grid(columns: 2...8), items: items(of: gallery), configuration: configuration,
            makeCell: { ImageView().fixed(width: 140, height: 140) },
            source: { $0.picture.source(copy: $0.copy) },
            configure: { cell, item in cell.accessibleName = item.picture.title })
        grid.onActivate = { gallery.open($0.picture) }
        return Page(
            "Grid", "\(grid.items.count) images, loaded as they are scrolled into view.",
            content: grid, fills: true)
    }

    private struct Item {
        let picture: Picture
        let copy: Int
    }

    /// Every picture once; samples then as copies with addresses of their own, each round in another order.
    @MainActor private static func items(of gallery: Gallery) -> [Item] {
        let pictures = gallery.pictures
        let rounds = gallery.isOwn ? 1 : max(1, (count + pictures.count - 1) / pictures.count)
        return (0..<rounds).flatMap { round in
            pictures.indices.map { index in
                Item(picture: gallery.picture(index * (round * 2 + 1) + round * 3), copy: round)
            }
        }
    }
}
