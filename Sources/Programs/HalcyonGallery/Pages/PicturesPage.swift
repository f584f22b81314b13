import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonWork

/// The pictures, each once and with its name; a click or Enter opens one.
enum PicturesPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        var configuration = ImageCellConfiguration()
        configuration.options = [
            .transition(.fade(0.25)), .onFailureImage(FailuresPage.brokenPicture),
            // Of large pictures only the small ones are made.
            .decodingLimits(DecodingLimits(maximumPixelCount: nil)),
        ]
        configuration.onResult = { cell, result in
            gallery.ledger.note(result)
            (cell as? PictureCell)?.tell(result)
        }
        let grid = ImageCollectionView(
            .grid(columns: 2...8), items: gallery.pictures, configuration: configuration,
            makeCell: { PictureCell() }, source: { $0.source() },
            configure: { cell, picture in cell.name(picture.title) })
        grid.onActivate = { gallery.open($0) }
        let failures = Label("", style: "failure", lines: 6)
        let page = Page(
            "Pictures", "Click a picture, or press Enter, to look at it closely.",
            content: Box(.column, spacing: 8, [failures.margins(24, 0), grid.expand()]), fills: true
        )
        let update: @MainActor () -> Void = { [weak gallery, weak grid, weak failures] in
            guard let gallery else { return }
            if grid?.items != gallery.pictures { grid?.items = gallery.pictures }
            failures?.show(gallery.failures.map(\.description).joined(separator: "\n"))
            failures?.isHidden = gallery.failures.isEmpty
        }
        gallery.onPictures.append(update)
        update()
        return page
    }
}

/// A picture with its name, or why it cannot be shown.
final class PictureCell: Box, ImageCell {
    let imageView = ImageView().fixed(width: 140, height: 140)
    private let title = Label("", style: "picture-title", lines: 3)

    var text: String { title.text }

    init() {
        super.init(.column, spacing: 4)
        append(imageView)
        append(title)
        gtk_label_set_max_width_chars(OpaquePointer(title.widget), 14)
        gtk_widget_set_valign(title.widget, GTK_ALIGN_START)
    }

    func name(_ name: String) {
        title.show(name)
        accessibleName = name
        gtk_widget_set_tooltip_text(widget, name)
    }

    func tell(_ result: Result<RetrieveImageResult, KingfisherError>) {
        guard case .failure(let error) = result, let name = accessibleName,
            !error.isTaskCancelled, !error.isNotCurrentTask
        else { return }
        title.show("\(name): \(error.localizedDescription)")
        gtk_widget_set_tooltip_text(widget, title.text)
    }
}
