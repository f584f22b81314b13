import CGtk4
public import Foundation
public import Halcyon

/// A progress ring. It turns while the progress is unknown.
@MainActor public final class ProgressRing: Canvas, ProgressView {
    /// The progress, 0 … 1; `nil`, the default, if it is unknown.
    public var fraction: Double? {
        didSet {
            guard fraction != oldValue else { return }
            updateTurning()
            setNeedsDisplay()
        }
    }

    /// The colour of the filled part; `nil`, the default, is the text colour.
    public var color: Color? {
        didSet { if color != oldValue { setNeedsDisplay() } }
    }

    /// The thickness of the ring, in points; 4 by default.
    public var lineWidth: CGFloat = 4 {
        didSet { if lineWidth != oldValue { setNeedsDisplay() } }
    }

    /// The clock of the rotation: that of the view's window by default.
    public lazy var frameTicker: any FrameTicker = WidgetFrameTicker(self)

    /// The preferred width and height, in points.
    public static let diameter: CGFloat = 36

    /// The duration of one turn, in seconds.
    private static let turnSeconds = 1.0

    private var turning: FrameSubscription?
    private var turn = 0.0

    /// A ring with unknown progress.
    public init() {
        super.init()
        gtk_widget_set_can_target(gtkWidget, 0)
    }

    /// Whether the ring turns: it is on the screen, its progress is unknown, and the desktop allows
    /// animations.
    public var isTurning: Bool { turning != nil }

    public override func didAppear() {
        super.didAppear()
        updateTurning()
    }

    public override func willDisappear() {
        super.willDisappear()
        turning = nil
    }

    public override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        (0, Self.diameter)
    }

    public override func draw(in snapshot: Snapshot) {
        let area = CGRect(origin: .zero, size: size)
        let radius = (min(area.width, area.height) - lineWidth) / 2
        guard radius > 0 else { return }
        var bounds = graphene_rect_t(area)
        guard let cairo = gtk_snapshot_append_cairo(snapshot.pointer, &bounds) else { return }
        defer { cairo_destroy(cairo) }
        let color = color ?? textColor
        // From the top, clockwise.
        let start = -0.5 * Double.pi + 2 * .pi * turn
        let length = 2 * .pi * min(max(fraction ?? 0.25, 0), 1)
        func stroke(from: Double, to: Double, alpha: CGFloat) {
            cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha * alpha)
            cairo_arc(cairo, area.midX, area.midY, radius, from, to)
            cairo_stroke(cairo)
        }
        cairo_set_line_width(cairo, lineWidth)
        stroke(from: 0, to: 2 * .pi, alpha: 0.2)
        if length > 0 { stroke(from: start, to: start + length, alpha: 1) }
    }

    public func showProgress(received: Int64, total: Int64) {
        fraction = total > 0 ? min(max(Double(received) / Double(total), 0), 1) : nil
    }

    private func updateTurning() {
        guard fraction == nil, isMapped, cgtk_animations_are_enabled(gtkWidget) != 0 else {
            (turn, turning) = (0, nil)
            return
        }
        guard turning == nil else { return }
        var begin: Duration?
        turning = frameTicker.onEachFrame { [weak self] time in
            guard let self else { return }
            let start = begin ?? time
            begin = start
            let turns = (time - start) / .seconds(Self.turnSeconds)
            turn = turns - turns.rounded(.down)
            setNeedsDisplay()
        }
    }
}
