import Foundation
import Synchronization

/// The pixels of an image, or the recipe that makes them: rendered at most once, on the thread of
/// the first caller that needs them, and shared by all images that differ only in scale.
///
/// Not a `WorkTable`: the first caller renders on its own thread, and the others block on theirs.
package final class PixelContent: Sendable {
    /// Frames whose pixels are in memory, those that share them counted once; 0 before the first is rendered.
    /// First, and without the lock: each cache asks for it.
    private let residentFrames: Atomic<Int>
    package let size: PixelSize
    let hasAlpha: Bool
    let depth: Bitmap.Depth
    /// Whether the pixels are those of a file, without any step of processing.
    let isAsDecoded: Bool
    /// The frames' times; `nil` for a still image.
    package let timing: AnimationTiming?

    private enum Rendering {
        case no
        case first(Bitmap)
        case all([Bitmap])

        /// Frames that have pixels of their own.
        var distinctFrames: Int {
            switch self {
            case .no: 0
            case .first: 1
            case .all(let frames): Set(frames.map(\.identity)).count
            }
        }
    }

    private struct State {
        /// Kept after rendering only while frames are still to be rendered from it.
        var recipe: Recipe
        var rendering: Rendering = .no
    }

    private let state: Mutex<State>
    /// The lock that makes a second caller wait for the first one's rendering.
    private let turn = NSLock()
    let frameBuffers = FrameBuffers()

    /// - Parameter first: The pixels of the first frame, if they are known already.
    init(_ recipe: Recipe, timing: AnimationTiming? = nil, first: Bitmap? = nil) {
        size = recipe.size
        hasAlpha = recipe.hasAlpha
        depth = recipe.depth
        isAsDecoded = recipe.isAsDecoded
        self.timing = timing
        var rendering = first.map(Rendering.first) ?? .no
        if case .frames(let frames) = recipe.start, recipe.operations.isEmpty {
            rendering = timing == nil ? .first(frames[0]) : .all(frames)
        }
        residentFrames = Atomic(rendering.distinctFrames)
        state = Mutex(State(recipe: recipe, rendering: rendering))
    }

    package var frameCount: Int { timing?.durations.count ?? 1 }

    var bytesPerFrame: Int {
        size.pixelCount * (hasAlpha ? 4 : 3) * depth.rawValue / 8
    }

    var isRendered: Bool { residentFrames.load(ordering: .acquiring) > 0 }

    /// Frames whose pixels are in memory (or will be, once an unrendered image is rendered); frames
    /// that share their pixels count once.
    var residentFrameCount: Int { max(1, residentFrames.load(ordering: .acquiring)) }

    var isFullyResident: Bool {
        timing == nil ? isRendered : readyFrames() != nil
    }

    /// The content with one more step; nothing is rendered.
    func applying(_ operation: ImageOperation) -> PixelContent {
        PixelContent(currentRecipe.appending(operation), timing: timing)
    }

    /// The pixels of frame `index`. The first frame is rendered once and kept; others are rendered
    /// each time unless all have been preloaded.
    func bitmap(frame index: Int = 0) throws -> Bitmap {
        if let ready = ready(index) { return ready }
        guard index == 0 else { return try currentRecipe.render(frame: index) }
        // Wait for budget before locking: whoever holds the budget may be waiting for this image.
        return try DecodingBudget.shared.holding(currentRecipe.memory) {
            try turn.withLock {
                if let ready = ready(0) { return ready }
                let bitmap = try currentRecipe.render(frame: 0)
                keep(.first(bitmap), as: timing == nil ? Recipe(frames: [bitmap]) : nil)
                return bitmap
            }
        }
    }

    /// The pixels of all frames, rendered once and kept.
    func allBitmaps() throws -> [Bitmap] {
        guard timing != nil else { return [try bitmap()] }
        if let ready = readyFrames() { return ready }
        return try DecodingBudget.shared.holding(currentRecipe.memoryOfAllFrames) {
            try turn.withLock {
                if let ready = readyFrames() { return ready }
                let frames = try currentRecipe.renderAllFrames()
                keep(.all(frames), as: Recipe(frames: frames))
                return frames
            }
        }
    }

    /// Stores the rendered pixels, and the recipe for further frames if it changes.
    private func keep(_ rendering: Rendering, as recipe: Recipe?) {
        state.withLock { state in
            state.rendering = rendering
            if let recipe { state.recipe = recipe }
        }
        residentFrames.store(rendering.distinctFrames, ordering: .releasing)
    }

    private var rendering: Rendering { state.withLock { $0.rendering } }

    var currentRecipe: Recipe { state.withLock { $0.recipe } }

    func ready(_ index: Int) -> Bitmap? {
        switch rendering {
        case .no: nil
        case .first(let bitmap): index == 0 ? bitmap : nil
        case .all(let frames): frames[index]
        }
    }

    private func readyFrames() -> [Bitmap]? {
        if case .all(let frames) = rendering { frames } else { nil }
    }
}
