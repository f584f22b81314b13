import ArgumentParser
import Foundation
import HalcyonGTK

/// A page: a title, a sentence, optional buttons, and the content below them.
final class Page: Box {
    /// - Parameter fills: Whether the content scrolls by itself and fills the page.
    init(
        _ title: String, _ text: String, buttons: [View] = [], content: View, fills: Bool = false
    ) {
        let head = Box(
            .column, spacing: 4,
            [Label(title, style: "page-title"), Label(text, style: "page-text", lines: 6)])
        // Below each other where the window is narrow.
        if !buttons.isEmpty { head.append(TileGrid(buttons, spacing: 8).leading().margins(0, 4)) }
        super.init(.column)
        expand()
        if fills {
            append(head.margins(24, 16))
            append(content.expand())
        } else {
            append(Scroller(Box(.column, spacing: 20, [head, content]).margins(24, 18)))
        }
    }
}

enum PageName: String, CaseIterable, ExpressibleByArgument, Sendable {
    case pictures
    case grid
    case transitions
    case placeholders
    case hashes
    case palettes
    case processors
    case formats
    case animated
    case fourCut = "four-cut"
    case failures
    case freshness

    var title: String {
        switch self {
        case .hashes: "Placeholders by hash"
        case .animated: "Animated images"
        case .fourCut: "Four-cut"
        default: rawValue.capitalized
        }
    }

    @MainActor func makeContent(_ gallery: Gallery) -> View {
        switch self {
        case .pictures: PicturesPage.make(gallery)
        case .grid: GridPage.make(gallery)
        case .transitions: TransitionsPage.make(gallery)
        case .placeholders: PlaceholdersPage.make(gallery)
        case .hashes: HashesPage.make(gallery)
        case .palettes: PalettesPage.make(gallery)
        case .processors: ProcessorsPage.make(gallery)
        case .formats: FormatsPage.make(gallery)
        case .animated: AnimatedPage.make(gallery)
        case .fourCut: FourCutPage.make(gallery)
        case .failures: FailuresPage.make(gallery)
        case .freshness: FreshnessPage.make(gallery)
        }
    }
}
