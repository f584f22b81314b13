import Foundation
import Halcyon
import HalcyonGTK
import HalcyonSamples

enum FailuresPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let shown = entries(of: gallery).map { entry in
            let view = ImageView().fixed(width: 230, height: 170)
            view.kf.indicatorType = .activity
            view.retriesOnClick = true
            if entry.showsText {
                view.kf.failureView = { error in
                    Label("Error \(error.errorCode)\nClick to try again")
                        .style("placeholder").centred()
                }
            }
            return (entry: entry, view: view, tile: Tile(view, title: entry.name))
        }
        let load: @MainActor () -> Void = {
            for (entry, view, tile) in shown {
                tile.detail = "loading…"
                view.kf.setImage(
                    with: entry.url,
                    options: [.forceRefresh, .transition(.fade(0.3))] + entry.options
                        + (entry.showsText ? [] : [.onFailureImage(brokenPicture)])
                ) { [weak tile] result in
                    gallery.ledger.note(result)
                    tile?.detail = text(of: result)
                }
            }
        }
        load()
        return Page(
            "Failures and retries",
            "Each of these goes wrong in its own way; click on a picture to load it again.",
            buttons: [TextButton("Try again", load)],
            content: TileGrid(shown.map { $0.tile }, columns: 1...4))
    }

    /// A picture frame with a line through it, in a grey for light and dark themes.
    static let brokenPicture = Image(data: Data(brokenPictureText.utf8))

    private static let brokenPictureText = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 460 340" width="460" height="340">
          <g fill="none" stroke="#8c8c8c" stroke-width="9" stroke-linejoin="round"
             stroke-linecap="round" opacity="0.7">
            <rect x="150" y="105" width="160" height="122" rx="12"/>
            <circle cx="192" cy="143" r="13"/>
            <path d="M158 214 L208 172 L238 198 L268 164 L302 206"/>
            <path d="M138 246 L322 86"/>
          </g>
        </svg>
        """

    @MainActor private struct Entry {
        let name: String
        let url: URL
        var options: KingfisherOptionsInfo = []
        var showsText = false
    }

    @MainActor private static func entries(of gallery: Gallery) -> [Entry] {
        let origin = gallery.origin
        let retries = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0.3))
        let substitute = gallery.sample("china.jpg").convertToSource()
        return [
            Entry(name: "Not there", url: origin.url(FailureRoutes.missing)),
            Entry(name: "Half a file", url: origin.url(FailureRoutes.truncated)),
            Entry(name: "A page, not a picture", url: origin.url(FailureRoutes.page)),
            Entry(name: "Connection reset", url: origin.url(FailureRoutes.reset), showsText: true),
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

/// Addresses of the server on this machine that give no picture, or not at once.
enum FailureRoutes {
    static let missing = "/failures/missing.jpg"
    static let truncated = "/failures/truncated.jpg"
    static let page = "/failures/page.jpg"
    static let flaky = "/failures/flaky.jpg"
    static let reset = "/failures/reset.jpg"

    static func add(to origin: SampleServer, samples: SamplePictures) {
        // Without the sample there is a page without picture, which the others show anyway.
        guard let data = try? samples.data("flower.jpg") else { return }
        origin.route(missing, .status(404))
        origin.route(truncated, SampleAnswer(data, end: .cutOff(after: data.count / 2)))
        origin.route(page, .page)
        origin.route(reset, SampleAnswer(data, end: .reset))
        origin.route(flaky, .status(503), .status(503), SampleAnswer(data))
    }
}
