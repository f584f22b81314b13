import Foundation
import HalcyonWork
import Synchronization

/// The decoded frames of one animation that all its players share.
///
/// Frames are decoded ahead, one at a time, on the decoding pool. Holds no more than its budget (see
/// `FrameWindow.capacity`) and lives as long as its players.
package final class FrameBuffer: Sendable {
    package typealias ViewerID = FrameWindow.ViewerID

    /// Runs a job some time later, elsewhere.
    typealias Scheduler = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    /// The frames in memory, and those that never will be.
    package struct Contents: Sendable {
        package fileprivate(set) var frames: [Int: Bitmap] = [:]
        fileprivate(set) var failed: Set<Int> = []

        /// Whether waiting for the frame has become useless.
        package func isReady(_ index: Int) -> Bool {
            frames[index] != nil || failed.contains(index)
        }

        /// Bytes of the pixels.
        var byteCount: Int { frames.values.reduce(0) { $0 + $1.byteCount } }
    }

    fileprivate struct State {
        var window: FrameWindow
        var contents = Contents()
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let frameCount: Int

    private let source: any ImageFrameSource
    private let maxSize: CGSize?
    private let resident: @Sendable (Int) -> Bitmap?
    private let schedule: Scheduler
    private let state: Mutex<State>

    /// - Parameters:
    ///   - bytesPerFrame: What a frame is expected to take.
    ///   - budget: Bytes that all frames together may take.
    ///   - resident: The frames that are in memory anyway; they need no decoding.
    init(
        source: any ImageFrameSource, maxSize: CGSize? = nil, bytesPerFrame: Int, budget: Int,
        resident: @escaping @Sendable (Int) -> Bitmap? = { _ in nil },
        schedule: @escaping Scheduler = { DecodingPool.shared.submit($0) }
    ) {
        frameCount = source.frameCount
        self.source = source
        self.maxSize = maxSize
        self.resident = resident
        self.schedule = schedule
        state = Mutex(
            State(
                window: FrameWindow(
                    frameCount: source.frameCount, bytesPerFrame: bytesPerFrame, budget: budget)))
    }

    /// What is in memory now.
    package var contents: Contents { state.withLock { $0.contents } }

    /// Whether a frame is being decoded.
    package var isLoading: Bool { state.withLock { $0.window.loading != nil } }

    /// See `FrameWindow.join(at:lookahead:)`.
    package func join(at position: Int, lookahead: Int) -> ViewerID {
        let (id, load) = state.withLock { state in
            let (id, action) = state.window.join(at: position, lookahead: lookahead)
            return (id, state.apply(action))
        }
        perform(load)
        return id
    }

    /// See `FrameWindow.move(_:to:)`.
    package func move(_ id: ViewerID, to position: Int) {
        change { $0.move(id, to: position) }
    }

    /// See `FrameWindow.seek(_:to:)`.
    package func seek(_ id: ViewerID, to position: Int) {
        change { $0.seek(id, to: position) }
    }

    /// See `FrameWindow.purge(_:keepsPresent:)`.
    package func purge(_ id: ViewerID, keepsPresent: Bool) {
        change { $0.purge(id, keepsPresent: keepsPresent) }
    }

    /// See `FrameWindow.leave(_:)`.
    package func leave(_ id: ViewerID) {
        change { $0.leave(id) }
    }

    /// Waits until the frame that is being decoded is there; returns at once when there is none, or
    /// when the task is cancelled.
    package func waitForLoad() async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Cancellation that came before this point finds no waiter, so it is looked up here.
                let waits = state.withLock { state in
                    guard state.window.loading != nil, !Task.isCancelled else { return false }
                    state.waiters[waiter] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }

    private func change(_ body: (inout FrameWindow) -> FrameWindow.Action) {
        perform(
            state.withLock { state in
                let action = body(&state.window)
                return state.apply(action)
            })
    }

    /// Decodes frame `index`, and what is to be decoded after it.
    private func perform(_ index: Int?) {
        var next = index
        while let index = next {
            guard let frame = resident(index) else { return scheduleLoad(index) }
            next = finish(index, frame)
        }
    }

    private func scheduleLoad(_ index: Int) {
        // The job does not keep the buffer: without players nobody needs the frame.
        schedule { [weak self, source, maxSize] in
            guard self != nil else { return }
            let frame = source.frame(at: index, maxSize: maxSize)
            guard let self else { return }
            self.perform(self.finish(index, frame))
        }
    }

    /// Takes in a frame; returns the next one to decode.
    private func finish(_ index: Int, _ frame: Bitmap?) -> Int? {
        let (next, waiters) = state.withLock { state in
            let action: FrameWindow.Action
            if let frame {
                state.contents.frames[index] = frame
                action = state.window.loaded(index, bytes: frame.byteCount)
            } else {
                action = state.window.failed(index)
                state.contents.failed = state.window.failed
            }
            let waiters = state.waiters
            state.waiters = [:]
            return (state.apply(action), waiters)
        }
        for waiter in waiters.values { waiter.resume() }
        return next
    }
}

extension FrameBuffer.State {
    /// Lets the dropped frames go; returns the one to decode.
    fileprivate mutating func apply(_ action: FrameWindow.Action) -> Int? {
        for index in action.dropped { contents.frames[index] = nil }
        return action.load
    }
}
