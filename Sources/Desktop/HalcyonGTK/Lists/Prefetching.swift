import Halcyon

@MainActor final class Prefetching {
    /// Kept while any of its sources is wanted, so that none is started twice.
    private struct Run {
        let prefetcher: ImagePrefetcher
        let keys: Set<String>
    }

    private var runs: [Run] = []
    private let progress: @MainActor () -> Void

    init(progress: @escaping @MainActor () -> Void) {
        self.progress = progress
    }

    isolated deinit {
        for run in runs { run.prefetcher.stop() }
    }

    /// Loads the new ones of `sources`, and stops the prefetchers that have none of them.
    func want(_ sources: [Source], options: KingfisherOptionsInfo) {
        let keys = Set(sources.map(\.cacheKey))
        let covered = runs.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        let missing = sources.filter { !covered.contains($0.cacheKey) }
        // First the new ones, so that a download that both want goes on.
        if !missing.isEmpty { start(missing, options) }
        runs.removeAll { run in
            guard run.keys.isDisjoint(with: keys) else { return false }
            run.prefetcher.stop()
            return true
        }
    }

    private func start(_ sources: [Source], _ options: KingfisherOptionsInfo) {
        let prefetcher = ImagePrefetcher(
            sources: sources, options: options,
            progressBlock: { [weak self] _, _, _ in
                MainActor.assumeIsolated { self?.progress() }
            })
        runs.append(Run(prefetcher: prefetcher, keys: Set(sources.map(\.cacheKey))))
        prefetcher.start()
    }
}
