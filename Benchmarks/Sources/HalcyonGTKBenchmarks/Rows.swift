import Foundation
import Halcyon
import HalcyonGTK

/// The rows of the table, measured in one window.
@MainActor struct Rows {
    let window: Window
    private static let cellCount = 2000
    private static let loadCount = 500

    init(window: Window) {
        self.window = window
    }

    func run(rounds: Int) async throws {
        let pictures = try Pictures(count: Self.loadCount)
        var table = FigureTable()
        for _ in 0..<rounds {
            let scrolling = try await scroll(pictures, hasImages: true)
            table.add("cell bind, memory hit", "µs", scrolling.binds)
            add(scrolling, as: "scrolling 2,000 cells", to: &table)
            let empty = try await scroll(pictures, hasImages: false)
            add(empty, as: "the same without images", to: &table)
            let loading = try await load(pictures)
            add(loading, as: "500 images load", to: &table)
        }
        print(table.text)
    }

    private func add(_ figures: Figures, as name: String, to table: inout FigureTable) {
        table.add("\(name): longest block by the main actor", "ms CPU", [figures.actor])
        table.add("\(name): longest turn, with GTK's share", "ms CPU", [figures.turn])
        table.add("\(name): longest turn, with GTK's share", "ms", [figures.elapsed])
    }

    private struct Figures {
        /// Microseconds of each bind.
        var binds: [Double] = []
        /// Milliseconds of processor time that the main actor's work took at most in a turn.
        var actor = 0.0
        /// Milliseconds of the longest turn of the main loop: processor time, and by the clock.
        var turn = 0.0
        var elapsed = 0.0

        @MainActor mutating func takeTurns() {
            actor = MainLoopMeter.mostActorTime / .milliseconds(1)
            turn = MainLoopMeter.mostProcessorTime / .milliseconds(1)
            elapsed = MainLoopMeter.longestTurn / .milliseconds(1)
        }
    }

    /// A list of 2,000 cells whose images are in memory, scrolled from end to end, three rows for
    /// each frame.
    private func scroll(_ pictures: Pictures, hasImages: Bool) async throws -> Figures {
        var figures = Figures()
        let clock = BindClock()
        var configuration = pictures.configuration
        configuration.imageSize = .points(CGSize(width: 64, height: 64))
        configuration.onResult = { _, _ in clock.end() }
        if hasImages { try await pictures.fillMemory(configuration, window.scaleFactor) }
        let list = ImageCollectionView(
            items: Array(0..<Self.cellCount), configuration: configuration,
            makeCell: { Self.cell(width: 64, height: 64) },
            source: { hasImages ? pictures.source($0) : nil },
            configure: { _, _ in clock.begin() })
        window.content = list
        let frames = Frames(list)
        for _ in 0..<5 { await frames.next() }
        clock.binds = []
        MainLoopMeter.reset()
        var offset: CGFloat = 0
        while offset < list.contentHeight - list.size.height {
            offset += 200
            list.scrollOffset = offset
            await frames.next()
        }
        figures.takeTurns()
        figures.binds = clock.binds
        return figures
    }

    /// A grid in which 500 cells are seen at once and load their images from files.
    private func load(_ pictures: Pictures) async throws -> Figures {
        var figures = Figures()
        await pictures.forget()
        var shown = 0
        var configuration = pictures.configuration
        configuration.prefetchCount = 0
        configuration.imageSize = .points(CGSize(width: 64, height: 64))
        configuration.onResult = { _, _ in shown += 1 }
        let grid = ImageCollectionView(
            .grid(columns: 20...20), items: Array(0..<Self.loadCount), configuration: configuration,
            makeCell: { Self.cell(width: 12, height: 12) }, source: { pictures.source($0) })
        window.content = grid
        let frames = Frames(grid)
        // GTK makes and lays out 500 widgets in its first frame, images or not.
        while shown == 0 { await frames.next() }
        await frames.next()
        MainLoopMeter.reset()
        while shown < Self.loadCount { await frames.next() }
        figures.takeTurns()
        return figures
    }

    private static func cell(width: CGFloat, height: CGFloat) -> ImageView {
        let view = Thumbnail()
        view.requestedSize = CGSize(width: width, height: height)
        view.contentMode = .fill
        return view
    }

    private final class Thumbnail: ImageView {
        override func measure(
            _ direction: Direction, other: CGFloat?
        ) -> (minimum: CGFloat, natural: CGFloat) { (0, 0) }
    }
}

/// Times a bind: from the configuration of the cell until it shows its image.
@MainActor private final class BindClock {
    var binds: [Double] = []
    private var began: ContinuousClock.Instant?
    private let clock = ContinuousClock()

    func begin() {
        began = clock.now
    }

    func end() {
        guard let began else { return }
        binds.append((clock.now - began) / .microseconds(1))
        self.began = nil
    }
}

/// The frames of a window.
@MainActor private final class Frames {
    private let ticker: WidgetFrameTicker
    private let view: View

    init(_ view: View) {
        self.view = view
        ticker = WidgetFrameTicker(view)
    }

    /// Waits for the next frame.
    func next() async {
        var subscription: FrameSubscription?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            var waiting: CheckedContinuation<Void, Never>? = continuation
            subscription = ticker.onEachFrame { _ in
                waiting?.resume()
                waiting = nil
            }
            view.setNeedsDisplay()
        }
        subscription?.cancel()
    }
}
