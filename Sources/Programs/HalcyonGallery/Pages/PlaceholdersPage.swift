import Foundation
public import Halcyon
public import HalcyonGTK
import HalcyonSamples

extension Label: Placeholder {}

enum PlaceholdersPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let shown = entries(of: gallery).map { entry in
            let view = ImageView().fixed(width: 230, height: 170)
            view.kf.indicatorType = entry.indicator
            return (view, entry)
        }
        let tiles = shown.map { Tile($0, title: $1.name, detail: $1.code) }
        let load: @MainActor () -> Void = {
            for (index, (view, entry)) in shown.enumerated() {
                view.kf.setImage(
                    with: (entry.picture ?? gallery.slowPicture(index)).url,
                    placeholder: entry.placeholder(),
                    options: [.forceRefresh, .transition(.fade(0.4))] + entry.options
                ) { gallery.ledger.note($0) }
            }
        }
        load()
        return Page(
            "Placeholders and indicators", "These pictures come slowly: they take four seconds.",
            buttons: [TextButton("Load again", load)], content: TileGrid(tiles, columns: 1...4))
    }

    @MainActor private struct Entry {
        let name: String
        let code: String
        var indicator = IndicatorType.none
        var placeholder: () -> (any Placeholder)? = { nil }
        /// The picture that this entry needs; `nil` for any.
        var picture: Picture?
        var options: KingfisherOptionsInfo = []
    }

    @MainActor private static func entries(of gallery: Gallery) -> [Entry] {
        let bird = (try? gallery.samples.data("kingfisher.svg")).flatMap { Image(data: $0) }
        return [
            Entry(
                name: "Activity indicator", code: "indicatorType = .activity", indicator: .activity),
            Entry(
                name: "Progress ring", code: "indicatorType = .custom(indicator: …)",
                indicator: .custom(indicator: ProgressRingIndicator(diameter: 44))),
            Entry(
                name: "Animated indicator", code: "indicatorType = .image(imageData: png)",
                indicator: .image(imageData: DotsAnimation.png)),
            Entry(name: "Image as placeholder", code: "placeholder: image", placeholder: { bird }),
            Entry(
                name: "Label as placeholder", code: "placeholder: Label(\"Loading…\")",
                placeholder: { Label("Loading…").style("placeholder") }),
            Entry(
                name: "Scan by scan", code: ".progressiveJPEG(ImageProgressive(…))",
                picture: gallery.slow.first { $0.title.contains("progressive") },
                options: [
                    .progressiveJPEG(
                        ImageProgressive(isBlur: true, isFastestScan: true, scanInterval: 0))
                ]),
        ]
    }
}
