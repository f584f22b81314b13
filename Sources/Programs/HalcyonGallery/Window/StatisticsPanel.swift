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
    private var figures: [Figure: Label] = [:]
    private var refreshing: Task<Void, Never>?

    private enum Figure: String, CaseIterable {
        case memory = "From memory"
        case disk = "From disk"
        case loaded = "Loaded"
        case failed = "Failed"
        case requests = "Requests"
        case memorySize = "Memory cache"
        case diskSize = "Disk cache"
        case stall = "Longest stall"
    }

    init(_ gallery: Gallery) {
        self.gallery = gallery
        let table: UnsafeMutablePointer<GtkWidget> = gtk_grid_new()
        let grid: UnsafeMutablePointer<GtkGrid> = table.cast()
        super.init(.column, spacing: 8)
        style("statistics")
        append(Label("LIVE", style: "statistics-title"))
        append(View(widget: table))
        gtk_grid_set_row_spacing(grid, 3)
        for (row, figure) in Figure.allCases.enumerated() {
            let name = Label(figure.rawValue, style: "figure-name")
            let value = Label("0", style: "figure")
            gtk_label_set_xalign(OpaquePointer(value.widget), 1)
            figures[figure] = value
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
        let ledger = gallery.ledger
        // A size that cannot be read now is read the next time.
        let disk = try? await gallery.cache.diskStorageSize
        figures[.memory]?.show("\(ledger.memory)")
        figures[.disk]?.show("\(ledger.disk)")
        figures[.loaded]?.show("\(ledger.loaded)")
        figures[.failed]?.show("\(ledger.failed)")
        figures[.requests]?.show("\(gallery.origin.requestCount)")
        figures[.memorySize]?.show(Self.bytes(gallery.cache.memoryStorageCacheCost))
        let stall = MainLoopMeter.mostProcessorTime.inSeconds * 1000
        figures[.stall]?.show(String(format: "%.1f ms", stall))
        if let disk { figures[.diskSize]?.show(Self.bytes(Int(disk))) }
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
