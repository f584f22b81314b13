import ArgumentParser
import HalcyonGTK

/// The pages, in their order.
enum PageName: String, CaseIterable, ExpressibleByArgument, Sendable {
    case grid
    case transitions
    case placeholders
    case processors
    case formats
    case animated
    case fourCut = "four-cut"
    case failures

    /// The name in the list of pages.
    var title: String {
        switch self {
        case .grid: "Grid"
        case .transitions: "Transitions"
        case .placeholders: "Placeholders"
        case .processors: "Processors"
        case .formats: "Formats"
        case .animated: "Animated images"
        case .fourCut: "Four-cut"
        case .failures: "Failures"
        }
    }

    /// What the page shows.
    @MainActor func makeContent(_ gallery: Gallery) -> View {
        switch self {
        case .grid: GridPage.make(gallery)
        case .transitions: TransitionsPage.make(gallery)
        case .placeholders: PlaceholdersPage.make(gallery)
        case .processors: ProcessorsPage.make(gallery)
        case .formats: FormatsPage.make(gallery)
        case .animated: AnimatedPage.make(gallery)
        case .fourCut: FourCutPage.make(gallery)
        case .failures: FailuresPage.make(gallery)
        }
    }
}
