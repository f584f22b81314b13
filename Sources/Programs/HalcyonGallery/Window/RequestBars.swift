import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonWork

final class RequestBars: Box {
    private static let count = 8

    private let canvas = RequestCanvas(count: RequestBars.count)
    private let scale = Label("", style: "figure-name")
    private var listening: Task<Void, Never>?

    init() {
        super.init(.column, spacing: 4)
        accessibleDescription = "What the latest requests waited for"
        append(
            Box(
                .row,
                [Label("REQUESTS", style: "statistics-title"), scale.expand(vertically: false)]))
        append(canvas)
        for stages in [[ImageStage.lookup, .fetch, .queue], [.process, .decode, .store]] {
            append(Box(.row, spacing: 8, stages.map { Self.key(to: $0) }))
        }
        gtk_label_set_xalign(OpaquePointer(scale.widget), 1)
        let events = KingfisherManager.shared.events
        listening = Task { [weak self] in
            for await event in events { self?.take(event) }
        }
    }

    func stop() {
        listening?.cancel()
    }

    private func take(_ event: ImageEvent) {
        canvas.take(event)
        scale.show(String(format: "%.0f ms", canvas.chart.longest.inSeconds * 1000))
    }

    private static func key(to stage: ImageStage) -> View {
        let mark = ImageView.patch(stage.color, width: 9, height: 9).style("bare")
        mark.cornerRadius = nil
        gtk_widget_set_valign(mark.widget, GTK_ALIGN_CENTER)
        return Box(.row, spacing: 4, [mark, Label(stage.words, style: "figure-name")])
    }
}

private final class RequestCanvas: Canvas {
    private static let pitch: CGFloat = 6
    private static let thickness: CGFloat = 5

    private(set) var chart: RequestChart

    init(count: Int) {
        chart = RequestChart(limit: count)
        super.init(role: .image)
        style("bare")
    }

    func take(_ event: ImageEvent) {
        chart.take(event)
        setNeedsDisplay()
    }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let height = Self.pitch * CGFloat(chart.limit)
        return direction == .vertical ? (height, height) : (0, 0)
    }

    override func draw(in snapshot: Snapshot) {
        for (row, bar) in chart.bars.enumerated() {
            for part in bar {
                let width = max(1, (part.end - part.begin) * size.width)
                let place = CGRect(
                    x: min(part.begin * size.width, size.width - 1), y: CGFloat(row) * Self.pitch,
                    width: width, height: Self.thickness)
                snapshot.fill(place, with: part.stage.color)
            }
        }
    }
}

extension ImageStage {
    fileprivate var words: String {
        switch self {
        case .lookup: "look up"
        case .fetch: "fetch"
        case .queue: "wait"
        case .process: "process"
        case .decode: "decode"
        case .store: "store"
        }
    }

    fileprivate var color: Color {
        switch self {
        case .lookup: Color(red: 0.60, green: 0.60, blue: 0.62)
        case .fetch: Color(red: 0.21, green: 0.52, blue: 0.89)
        case .queue: Color(red: 0.96, green: 0.83, blue: 0.18)
        case .process: Color(red: 0.57, green: 0.25, blue: 0.67)
        case .decode: Color(red: 0.90, green: 0.38, blue: 0.00)
        case .store: Color(red: 0.18, green: 0.76, blue: 0.49)
        }
    }
}
