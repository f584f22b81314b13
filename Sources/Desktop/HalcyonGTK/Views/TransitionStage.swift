import CGtk4
import Foundation
import Halcyon

/// Draws a view's content and animates its changes, one at a time.
///
/// A transition leads from the last drawing on the screen, whatever that was, to the view's current
/// content. The next change of the content interrupts it, and so does leaving the screen.
@MainActor final class TransitionStage {
    private weak var view: View?
    private var running: RunningTransition?
    private var isChanging = false
    /// The drawing on the screen; `nil` while the view is not on it.
    private var shown: RenderNode?

    /// The limit for nesting unfinished transitions that interrupt each other.
    private static let greatestDepth = 4

    /// Sets the view, which owns this object.
    func serve(_ view: View) {
        self.view = view
    }

    var isRunning: Bool { running != nil }

    /// Animates the changes made by `changes` with `transition`.
    ///
    /// Changes are immediate if the desktop disables animations or the view is not on the screen.
    /// - Parameters:
    ///   - pose: The pose of the view, before and after the changes.
    ///   - completion: Called once, with `false` if the change was interrupted.
    func run(
        _ transition: ImageTransition, ticker: any FrameTicker, pose: () -> Pose,
        changes: @MainActor () -> Void, completion: @escaping @MainActor (Bool) -> Void
    ) {
        end()
        let (before, start) = (shown, pose())
        let wasChanging = isChanging
        isChanging = true
        changes()
        isChanging = wasChanging
        // The changes may have begun a transition of their own, which is the later one.
        guard running == nil else { return completion(false) }
        guard let view, view.isMapped, transition.duration > 0,
            cgtk_animations_are_enabled(view.gtkWidget) != 0
        else { return completion(true) }
        let running = RunningTransition(
            transition, before: before, pose: start, completion: completion)
        self.running = running
        view.setNeedsDisplay()
        running.subscription = ticker.onEachFrame { [weak self, weak running] time in
            if let running { self?.advance(running, to: time) }
        }
    }

    /// Ends a running transition; to be called before the content changes.
    func contentWillChange() {
        if !isChanging { end() }
    }

    /// Interrupts the transition: the view's content is shown as it is.
    func end() {
        finish(completed: false)
    }

    /// To be called when the view leaves the screen.
    func disappear() {
        end()
        shown = nil
    }

    private func advance(_ running: RunningTransition, to time: Duration) {
        guard running === self.running else { return }
        view?.setNeedsDisplay()
        if running.advance(to: time) { finish(completed: true) }
    }

    private func finish(completed: Bool) {
        guard let running else { return }
        self.running = nil
        view?.setNeedsDisplay()
        running.finish(completed: completed)
    }

    // MARK: Drawing

    /// Draws the content drawn by `body` in `pose`, through the running transition if there is one.
    func draw(in snapshot: Snapshot, pose: Pose, _ body: (Snapshot) -> Void) {
        guard let view else { return body(snapshot) }
        let size = view.size
        let content = RenderNode.recording { snapshot in
            let pose = running?.pose(to: pose) ?? pose
            snapshot.posed(pose, size: size) { body(snapshot) }
        }
        guard let running else {
            shown = content
            content?.draw(in: snapshot)
            return
        }
        let depth = (running.before?.depth ?? 0) + 1
        let mixed = RenderNode.recording(depth: depth) {
            running.draw(in: $0, after: content, on: view)
        }
        shown = depth < Self.greatestDepth ? mixed : content
        mixed?.draw(in: snapshot)
    }
}

@MainActor private final class RunningTransition {
    let before: RenderNode?
    var subscription: FrameSubscription?

    private let look: TransitionLook
    private let curve: TimingCurve
    private let seconds: Double
    private let startPose: Pose
    private let completion: @MainActor (Bool) -> Void
    private var begin: Duration?
    private var progress = 0.0

    init(
        _ transition: ImageTransition, before: RenderNode?, pose: Pose,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        let options = transition.animationOptions
        self.before = before
        look = TransitionLook(options)
        curve = TimingCurve(options)
        seconds = transition.duration
        startPose = pose
        self.completion = completion
    }

    /// Advances to `time` and returns whether the transition is over. The first call starts it.
    func advance(to time: Duration) -> Bool {
        let begin = begin ?? time
        self.begin = begin
        let part = (time - begin) / .seconds(1) / seconds
        progress = curve.progress(at: part)
        return part >= 1
    }

    func finish(completed: Bool) {
        subscription?.cancel()
        completion(completed)
    }

    func pose(to pose: Pose) -> Pose { startPose.moved(to: pose, progress: progress) }

    func draw(in snapshot: Snapshot, after: RenderNode?, on view: View) {
        switch look {
        case .plain:
            after?.draw(in: snapshot)
        case .crossDissolve:
            snapshot.crossFade(progress: progress) {
                before?.draw(in: snapshot)
            } to: {
                after?.draw(in: snapshot)
            }
        case .flip(let edge):
            let side = progress < 0.5 ? before : after
            guard let side else { return }
            snapshot.drawTurned(
                side, degrees: progress < 0.5 ? progress * 180 : progress * 180 - 180, edge: edge,
                size: view.size, scaleFactor: view.scaleFactor, renderer: view.renderer)
        }
    }
}

extension View {
    /// The GSK renderer of the view's window; `nil` outside a window.
    var renderer: OpaquePointer? {
        gtk_widget_get_native(gtkWidget).flatMap { gtk_native_get_renderer($0) }
    }
}
