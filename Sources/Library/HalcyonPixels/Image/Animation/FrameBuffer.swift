import Foundation
import HalcyonWork
import Synchronization

/// The decoded frames of one animation that all its players share.
///
/// Frames are decoded ahead, one at a time, on the decoding pool. Holds no more than its budget (see
/// `FrameWindow.capacity`) and lives as long as its players.
///
/// Not a `WorkTable`: the next frame to decode depends on the positions of all players.
package final class FrameBuffer: Sendable {
    package typealias ViewerID = FrameWindow.ViewerID

    /// Runs a job some time later, elsewhere.
    typealias Scheduler = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    package struct Contents: Sendable {
        package fileprivate(set) var frames: [Int: Bitmap] = [:]
        fileprivate(set) var failed: Set<Int> = []

        /// Whether there is nothing left to wait for: the frame is there or has failed.
        package func isReady(_ index: Int) -> Bool {
            frames[index] != nil || failed.contains(index)
        }

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

    package var contents: Contents { state.withLock { $0.contents } }

    package var isLoading: Bool { state.withLock { $0.window.loading != nil } }

    package func join(at position: Int, lookahead: Int) -> ViewerID {
        change { $0.window.join(at: position, lookahead: lookahead) }
    }

    package func move(_ id: ViewerID, to position: Int) {
        change { ((), $0.window.move(id, to: position)) }
    }

    package func seek(_ id: ViewerID, to position: Int) {
        change { ((), $0.window.seek(id, to: position)) }
    }

    package func purge(_ id: ViewerID, keepsPresent: Bool) {
        change { ((), $0.window.purge(id, keepsPresent: keepsPresent)) }
    }

    package func leave(_ id: ViewerID) {
        change { ((), $0.window.leave(id)) }
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

    /// Performs a state transition and starts the decoding that follows from it.
    private func change<Result>(
        _ body: (inout State) -> (Result, FrameWindow.Action)
    ) -> Result {
        let (result, load) = transition(body)
        perform(load)
        return result
    }

    /// Performs a state transition; returns the frame to decode.
    private func transition<Result>(
        _ body: (inout State) -> (Result, FrameWindow.Action)
    ) -> (Result, load: Int?) {
        state.withLock { state in
            let (result, action) = body(&state)
            return (result, state.apply(action))
        }
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
        let (waiters, next) = transition { state in
            let waiters = state.waiters
            state.waiters = [:]
            guard let frame else {
                let action = state.window.failed(index)
                state.contents.failed = state.window.failed
                return (waiters, action)
            }
            state.contents.frames[index] = frame
            return (waiters, state.window.loaded(index, bytes: frame.byteCount))
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

/// The frame buffers of one image's pixels, kept by their players, not by the image.
package final class FrameBuffers: Sendable {
    /// Players that agree in these share their frames.
    package struct Key: Hashable {
        /// The longest side, in pixels, that frames are made smaller to; `nil` for the full size.
        package var longestSide: Int?
        /// Bytes.
        package var budget: Int

        package init(longestSide: Int?, budget: Int) {
            self.longestSide = longestSide
            self.budget = budget
        }
    }

    private struct Reference: Sendable {
        weak var buffer: FrameBuffer?
    }

    private let references = Mutex<[Key: Reference]>([:])

    /// The buffer for `key`, which `make` makes if no player has it.
    func buffer(_ key: Key, make: () -> FrameBuffer) -> FrameBuffer {
        references.withLock { references in
            if let buffer = references[key]?.buffer { return buffer }
            references = references.filter { $0.value.buffer != nil }
            let buffer = make()
            references[key] = Reference(buffer: buffer)
            return buffer
        }
    }
}

extension PixelContent {
    /// The frames that the players of this content share.
    package func frameBuffer(_ key: FrameBuffers.Key) -> FrameBuffer {
        let frameSize = size.fitting(longestSide: key.longestSide)
        let isReduced = frameSize != size
        return frameBuffers.buffer(key) {
            FrameBuffer(
                source: DecodingFrameSource(self, data: nil),
                maxSize: isReduced
                    ? CGSize(width: frameSize.width, height: frameSize.height) : nil,
                bytesPerFrame: bytesPerFrame / max(1, size.pixelCount) * frameSize.pixelCount,
                budget: key.budget,
                resident: { isReduced ? nil : self.ready($0) })
        }
    }
}
