import Halcyon

extension Benchmark {
    /// What is drawn on the main actor while a picture is on its way.
    static let placeholders: [Benchmark] = [
        drawn("BlurHash") { Image.blurHash("LxH2cX2swxX8l}WDjte;gJfjfQfj") },
        drawn("ThumbHash") { Image.thumbHash("3wcKNxpwd4eAeIiHiHiIeIiHCAeHcI8I") },
    ]

    private static let limit = "1 ms"

    private static func drawn(
        _ name: String, _ make: @escaping @Sendable () -> Image?
    ) -> Benchmark {
        Benchmark(
            "\(name) drawn", unit: .milliseconds,
            conditions: """
                From the text to pixels in memory, 32 on the longer side, on the main actor; a hundred for one \
                figure. The peer is the time that it may take.
                """,
            targets: [limit: 1]
        ) { _ in
            Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time(operations: 100) { try await drawHundred(make) }
                },
                peers: [Contestant(limit) { .time(wall: 0.001, cpu: 0.001) }])
        }
    }

    @MainActor private static func drawHundred(_ make: @Sendable () -> Image?) throws {
        for _ in 0..<100 {
            guard let image = make() else { throw BenchmarkError("the hash is not read") }
            consume(try image.bitmap())
        }
    }
}
