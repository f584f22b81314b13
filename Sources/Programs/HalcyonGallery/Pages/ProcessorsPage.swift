import Foundation
import Halcyon
import HalcyonGTK

enum ProcessorsPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let tiles = entries.enumerated().map { index, entry in
            let picture = gallery.picture(index)
            let original = ImageView().fixed(width: 140, height: 105)
            let processed = ImageView().fixed(width: 140, height: 105)
            // So that the processor's own corners and edges are seen.
            if entry.showsEdges {
                processed.cornerRadius = nil
                processed.contentMode = .fit
                processed.style("bare")
            }
            let size = CGSize(width: 400, height: 300)
            let base =
                ResizingImageProcessor(referenceSize: size, mode: .aspectFill)
                |> CroppingImageProcessor(size: size)
            load(picture, base, into: original, gallery)
            load(picture, base |> entry.processor, into: processed, gallery)
            return Tile([original, processed], title: entry.name, detail: entry.code)
        }
        return Page(
            "Processors", "The original at the left, what the processor makes of it at the right.",
            content: TileGrid(tiles, columns: 1...4))
    }

    @MainActor private static func load(
        _ picture: Picture, _ processor: any ImageProcessor, into view: ImageView,
        _ gallery: Gallery
    ) {
        view.kf.setImage(
            with: picture.source(),
            options: [
                .processor(processor), .cacheSerializer(FormatIndicatedCacheSerializer.png),
                .transition(.fade(0.25)),
            ]
        ) { gallery.ledger.note($0) }
    }

    private struct Entry {
        let name: String
        let code: String
        let processor: any ImageProcessor
        var showsEdges = false
    }

    private static let entries = [
        Entry(
            name: "Round corners", code: "RoundCornerImageProcessor(cornerRadius: 60)",
            processor: RoundCornerImageProcessor(cornerRadius: 60), showsEdges: true),
        Entry(
            name: "Blur", code: "BlurImageProcessor(blurRadius: 8)",
            processor: BlurImageProcessor(blurRadius: 8)),
        Entry(
            name: "Black and white", code: "BlackWhiteProcessor()",
            processor: BlackWhiteProcessor()),
        Entry(
            name: "Colour controls", code: "ColorControlsProcessor(…, saturation: 1.8)",
            processor: ColorControlsProcessor(
                brightness: 0.03, contrast: 1.15, saturation: 1.8, inputEV: 0.2)),
        Entry(
            name: "Tint", code: "TintImageProcessor(tint: blue, 40 %)",
            processor: TintImageProcessor(tint: Color(red: 0, green: 0.4, blue: 0.8, alpha: 0.4))),
        Entry(
            name: "Overlay", code: "OverlayImageProcessor(overlay: orange)",
            processor: OverlayImageProcessor(
                overlay: Color(red: 1, green: 0.45, blue: 0, alpha: 1), fraction: 0.6)),
        Entry(
            name: "Border", code: "BorderImageProcessor(border: 14)",
            processor: BorderImageProcessor(
                border: Border(
                    color: Color(red: 0.3, green: 0.76, blue: 0.85, alpha: 1), lineWidth: 14,
                    radius: .point(40))), showsEdges: true),
        Entry(
            name: "Round, blurred and grey", code: "a |> b |> c",
            processor: BlurImageProcessor(blurRadius: 4) |> BlackWhiteProcessor()
                |> RoundCornerImageProcessor(radius: .widthFraction(0.5)), showsEdges: true),
    ]
}
