import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonSamples
import HalcyonWork

/// Where images came from, what the caches hold and what the latest requests waited for, as it is now.
final class StatisticsPanel: Box {
    private let gallery: Gallery
    private let bars = RequestBars()
    private var figures: [(label: Label, text: @MainActor () -> String)] = []
    private var diskSize = "0"
    private var refreshing: Task<Void, Never>?

    init(_ gallery: Gallery) {
        self.gallery = gallery
        let table: UnsafeMutablePointer<GtkWidget> = gtk_grid_new()
        let grid: UnsafeMutablePointer<GtkGrid> = table.cast()
        super.init(.column, spacing: 8)
        style("statistics")
        append(Label("LIVE", style: "statistics-title"))
        append(View(widget: table))
        gtk_grid_set_row_spacing(grid, 3)
        let ledger = gallery.ledger
        let rows: [(name: String, text: @MainActor () -> String)] = [
            ("From memory", { "\(ledger.memory)" }), ("From disk", { "\(ledger.disk)" }),
            ("Loaded", { "\(ledger.loaded)" }), ("Failed", { "\(ledger.failed)" }),
            ("Requests", { "\(gallery.origin.requestCount)" }),
            ("Memory cache", { Self.bytes(gallery.cache.memoryStorageCacheCost) }),
            ("Disk cache", { [weak self] in self?.diskSize ?? "0" }),
            ("Longest stall", { Self.milliseconds(MainLoopMeter.mostProcessorTime) }),
        ]
        for (row, figure) in rows.enumerated() {
            let name = Label(figure.name, style: "figure-name")
            let value = Label("0", style: "figure")
            gtk_label_set_xalign(OpaquePointer(value.widget), 1)
            figures.append((value, figure.text))
            gtk_grid_attach(grid, name.expand(vertically: false).widget, 0, gint(row), 1, 1)
            gtk_grid_attach(grid, value.widget, 1, gint(row), 1, 1)
        }
        append(bars)
        refreshing = Task { [weak self] in
            while !Task.isCancelled, let self {
                await refresh()
                // Cancelled when the window is gone.
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    func stop() {
        refreshing?.cancel()
        bars.stop()
    }

    func refresh() async {
        // A size that cannot be read now is read the next time.
        if let size = try? await gallery.cache.diskStorageSize { diskSize = Self.bytes(Int(size)) }
        for (label, text) in figures { label.show(text()) }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        String(format: "%.1f ms", duration.inSeconds * 1000)
    }

    private static func bytes(_ count: Int) -> String {
        String(format: "%.1f MB", Double(count) / 1e6)
    }
}

@MainActor final class Ledger {
    private(set) var memory = 0
    private(set) var disk = 0
    private(set) var loaded = 0
    private(set) var failed = 0

    func note(_ result: Result<RetrieveImageResult, KingfisherError>) {
        switch result.map(\.cacheType) {
        case .success(.memory): memory += 1
        case .success(.disk): disk += 1
        case .success(.none): loaded += 1
        case .failure(let error):
            // A load that another one has followed, or that was ended, is no failure.
            if !error.isTaskCancelled, !error.isNotCurrentTask { failed += 1 }
        }
    }
}
