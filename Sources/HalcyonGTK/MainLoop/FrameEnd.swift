import CGtk4

/// Does something once, after the frame that is drawn next: when everything in it has its place.
///
/// Never does it when the window goes before that. It is pending as long as the object lives, which the
/// frame clock keeps.
@MainActor final class FrameEnd {
    private var handler: gulong = 0
    private let body: @MainActor () -> Void

    private init(_ body: @escaping @MainActor () -> Void) {
        self.body = body
    }

    /// - Returns: The object, to be held weakly.
    @discardableResult
    static func run(on clock: OpaquePointer, _ body: @escaping @MainActor () -> Void) -> FrameEnd {
        let end = FrameEnd(body)
        let object = UnsafeMutableRawPointer(clock)
        end.handler = Signal.connect(object, "after-paint") {
            // Ends the clock's hold of this object, too.
            Signal.disconnect(object, end.handler)
            end.body()
        }
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
        return end
    }
}
