import Foundation
import Halcyon

extension Benchmark {
    /// Animations that are too large to be kept decoded, shown in several places.
    static let playback: [Benchmark] = [
        tenViews("GIF", file: "animation.gif"),
        tenViews("WebP", file: "animation.webp"),
    ]

    private static func tenViews(_ format: String, file: String) -> Benchmark {
        Benchmark(
            "\(format) playback: ten views", unit: .milliseconds, clock: .cpu,
            conditions: """
                CPU time of one run of an animation of 100 frames of 400x300 (48 MB decoded, 32 MB may be \
                kept), shown by ten Animators that are moved in step, against one.
                """,
            enoughRounds: 7, targets: ["one view": 1 / 1.5]
        ) { workbench in
            let data = try Data(contentsOf: workbench.photograph(file))
            return Contest(
                ours: Contestant("ten views") { try await play(data, views: 10) },
                peers: [Contestant("one view") { try await play(data, views: 1) }])
        }
    }

    /// Shows all frames; each time moves on when every view has its frame.
    private static func play(_ data: Data, views: Int) async throws -> Sample {
        guard
            let image = DefaultImageProcessor.default.process(
                item: .data(data), options: KingfisherParsedOptionsInfo(nil))
        else { throw BenchmarkError("Halcyon does not read the animation") }
        let animators = (0..<views).map { _ in Animator(image: image, repeatCount: .once) }
        return try await Stopwatch.time {
            while !animators.allSatisfy(\.isFinished) {
                let last = animators.map(\.currentFrameIndex).min() ?? 0
                for animator in animators
                where animator.currentFrameIndex == last && !animator.isFinished {
                    animator.tick(elapsed: .milliseconds(40))
                }
                // Frames are decoded elsewhere; a view would wait for its next redraw.
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}
