import Foundation
import Halcyon
import HalcyonGTK
import HalcyonWork

enum HashesPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let tiles = gallery.slow.prefix(6).enumerated().map { index, picture in
            HashTile(picture, index.isMultiple(of: 2) ? .blurHash : .thumbHash, gallery)
        }
        return Page(
            "Placeholders by hash",
            "At the left what the hash describes; at the right it fades into the picture.",
            buttons: [TextButton("Load again") { for tile in tiles { tile.load() } }],
            content: TileGrid(tiles.map(\.tile), columns: 1...4))
    }
}

/// A hash, as a service would send it along with a URL, and its picture.
@MainActor private final class HashTile {
    enum Kind: String {
        case blurHash = "BlurHash"
        case thumbHash = "ThumbHash"
    }

    let tile: Tile
    private let picture: Picture
    private let kind: Kind
    private let gallery: Gallery
    private let hashView = ImageView().fixed(width: 140, height: 105)
    private let view = ImageView().fixed(width: 140, height: 105)
    private var placeholder: KFCrossPlatformImage?

    init(_ picture: Picture, _ kind: Kind, _ gallery: Gallery) {
        self.picture = picture
        self.kind = kind
        self.gallery = gallery
        tile = Tile([hashView, view], title: kind.rawValue, detail: "…")
        Task { await makeHash() }
    }

    func load() {
        guard let placeholder else { return }
        hashView.image = placeholder
        view.kf.setImage(
            with: picture.url, placeholder: placeholder,
            options: [.forceRefresh, .transition(.fade(1.2))]
        ) { [gallery] in gallery.ledger.note($0) }
    }

    /// Computes the hash from the picture's file, without the slow download.
    private func makeHash() async {
        do {
            guard let file = picture.file else { return }
            let image = try Image.decoding(file.read())
            switch kind {
            case .blurHash:
                tile.detail = try await image.kf.blurHash().description
                placeholder = .blurHash(tile.detail)
            case .thumbHash:
                tile.detail = try await image.kf.thumbHash().description
                placeholder = .thumbHash(tile.detail)
            }
            load()
        } catch {
            tile.detail = error.localizedDescription
        }
    }
}
