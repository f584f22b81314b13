import HalcyonTelemetry
import HalcyonWork
import Logging

/// The sources and pictures of a server with their caches, and the servers that it shares them with.
struct Stores: Sendable {
    let sources: SourceFinder
    let results: ResultCache
    let pictures: PictureMaker
    let infos: InfoReader
    /// `nil` unless the IIIF Image API is on.
    let iiif: IIIFPictures?
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?
    let purger: Purger
    let cleaning: Cleaning

    init(
        _ configuration: ImageServerConfiguration, _ checked: CheckedConfiguration,
        rules: PictureRules, gates: WorkGates, metrics: ServerMetrics, spans: SpanScope,
        logger: Logger, time: TimeSource
    ) {
        // To be given the caches from which purges of other servers remove entries, too.
        let purged = OneShot<LocalCaches>()
        let pauses = checked.client?.pauses
        let cluster = Cluster(
            configuration, metrics: metrics, logger: logger, time: time,
            onForgotten: { purge, done in
                purged.whenGiven { caches in
                    Task {
                        await caches.forget(purge)
                        await done()
                        caches.purges.noteHeard()
                    }
                }
            },
            onPause: { pauses?.learn($0, until: $1, at: time.date) })
        self.cluster = cluster
        pauses?.teller.give { [weak cluster] in cluster?.tellPause(of: $0, until: $1) }

        let (cache, directory) = (configuration.cache, configuration.cacheDirectory)
        let trouble = CacheTrouble(logger: logger, metrics: metrics, time: time)
        let folder =
            cache.sources.bytes > 0 && checked.client != nil
            ? SourceFolder(cache.sources, in: directory, time: time) { trouble.note("source", $0) }
            : nil
        let results = ResultCache(
            cache.results, in: directory, metrics: metrics, spans: spans, time: time
        ) { trouble.note("result", $0) }
        self.results = results
        let remote = checked.client.map {
            RemoteSources(
                configuration, client: $0, gate: gates.downloads, folder: folder, results: results,
                cluster: cluster, metrics: metrics, spans: spans, time: time)
        }
        let sources = SourceFinder(
            local: checked.local, remote: remote, maxBytes: configuration.limits.maxSourceBytes,
            rules: checked.sourceRules, purges: PurgeJournal(), spans: spans)
        self.sources = sources

        let failures = { KnownFailures(for: cache.negativeTTL, time: time) }
        let pictures = PictureMaker(
            sources: sources, results: results, gates: gates, failures: failures(),
            cluster: cluster, metrics: metrics, spans: spans, time: time)
        self.pictures = pictures
        infos = InfoReader(
            sources: sources, rules: rules, gate: gates.decoders, failures: failures(), time: time)
        iiif = checked.iiif.map {
            IIIFPictures(
                $0, sources: sources, rules: rules, failures: pictures.failures, time: time)
        }
        let caches = LocalCaches(
            remote: remote, results: results, failures: pictures.failures, infos: infos,
            iiif: iiif, standing: [checked.watermark, checked.fallback].compactMap(\.self),
            purges: sources.purges)
        purged.give(caches)
        purger = Purger(caches: caches, sources: sources, cluster: cluster)
        cleaning = Cleaning(
            sources: remote?.known, results: results, decoders: gates.decoders, time: time)
    }
}
