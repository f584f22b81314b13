import Foundation
import Halcyon
import HalcyonGTK
import HalcyonSamples
import HalcyonTestKit

/// What becomes of images that cannot be loaded.
enum FailuresPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let entries = entries(of: gallery)
        let views = entries.map { _ in PictureView(width: 230, height: 170) }
        let tiles = zip(views, entries).map { view, entry in
            view.kf.indicatorType = .activity
            return Tile(view, title: entry.name)
        }
        let failure = (try? gallery.samples.data("horse.png")).flatMap { Image(data: $0) }
        let load: @MainActor () -> Void = {
            for (index, entry) in entries.enumerated() {
                let tile = tiles[index]
                tile.detail = "loading…"
                views[index].kf.setImage(
                    with: entry.url,
                    options: [
                        .forceRefresh, .onFailureImage(failure), .transition(.fade(0.3)),
                    ] + entry.options
                ) { [weak tile] result in
                    gallery.ledger.note(result)
                    tile?.detail = text(of: result)
                }
            }
        }
        load()
        return Page(
            "Failures and retries",
            "Each of these goes wrong in its own way; the horse is the failure image.",
            buttons: [TextButton("Try again", load)], content: TileGrid(tiles, columns: 2...4))
    }

    @MainActor private struct Entry {
        let name: String
        let url: URL
        var options: KingfisherOptionsInfo = []
    }

    @MainActor private static func entries(of gallery: Gallery) -> [Entry] {
        let origin = gallery.origin
        let retries = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0.3))
        let substitute = gallery.sample("china.jpg").convertToSource()
        return [
            Entry(name: "Not there", url: origin.url(FailureRoutes.missing)),
            Entry(name: "Half a file", url: origin.url(FailureRoutes.truncated)),
            Entry(name: "A page, not a picture", url: origin.url(FailureRoutes.page)),
            Entry(name: "Connection reset", url: origin.url(FailureRoutes.reset)),
            Entry(
                name: "Busy twice, then retried", url: origin.url(FailureRoutes.flaky),
                options: [.retryStrategy(retries)]),
            Entry(
                name: "Not there, with an alternative",
                url: origin.url(FailureRoutes.missing + "?alternative"),
                options: [.alternativeSources([substitute])]),
        ]
    }

    private static func text(of result: Result<RetrieveImageResult, KingfisherError>) -> String {
        switch result {
        case .success(let value):
            value.source == value.originalSource ? "loaded" : "the alternative was loaded"
        case .failure(let error):
            "Error \(error.errorCode): \(error.errorDescription ?? "")"
        }
    }
}
