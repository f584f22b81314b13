import Foundation

/// Something that reads bytes of strangers.
struct FuzzTarget: Sendable {
    let name: String
    /// Small files to begin with.
    let seeds: @Sendable () throws -> [Data]
    /// Reads the bytes. What it throws is as good as what it returns; only crashes are not.
    let run: @Sendable (Data) throws -> Void

    init(
        _ name: String, seeds: @escaping @Sendable () throws -> [Data],
        run: @escaping @Sendable (Data) throws -> Void
    ) {
        self.name = name
        self.seeds = seeds
        self.run = run
    }

    /// Files that claim more pixels are not decoded: memory would be what is tested.
    static let mostPixels = 1 << 20

    /// All targets. A new one is one file and one line here.
    static let all: [FuzzTarget] =
        [
            .image, .jpeg, .progressive, .coefficients, .png, .apng, .webp, .avif, .jpegXL, .gif,
            .windows, .svg, .information, .metadata, .hashes, .urls, .responseHeads, .headerFields,
            .indexRows, .responseRows, .workerAnswers,
        ] + vips

    static func named(_ name: String?) -> FuzzTarget? {
        all.first { $0.name == name }
    }
}
