import HalcyonTelemetry
import HalcyonWork
import Logging
import Synchronization

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
        // To be given what carries out purges of other servers.
        let purging = OneShot<Purger>()
        let pauses = checked.client?.pauses
        let cluster = Cluster(
            configuration, metrics: metrics, logger: logger, time: time,
            onForgotten: { purge, done in
                purging.whenGiven { purger in
                    Task {
                        await purger.forgetHere(purge)
                        await done()
                        purger.sources.purges.heard.update { $0 += 1 }
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
            sources: sources, rules: rules, gate: gates.decoders, failures: failures(),
            texts: InfoText.memory(time))
        iiif = checked.iiif.map {
            IIIFPictures(
                service: $0, rules: rules, sources: sources, failures: pictures.failures,
                headers: SourceHeader.memory(time))
        }
        var purger = Purger(
            sources: sources, results: results, failures: pictures.failures, infos: infos,
            iiif: iiif, standing: [checked.watermark, checked.fallback].compactMap(\.self))
        // Without the cluster, which would own itself.
        purging.give(purger)
        purger.cluster = cluster
        self.purger = purger
        cleaning = Cleaning(
            sources: remote?.known, results: results, decoders: gates.decoders, time: time)
    }
}

/// Logs at most once a minute for each cache that it cannot be used; requests do without it.
private final class CacheTrouble: Sendable {
    private let logger: Logger
    private let metrics: ServerMetrics
    private let time: TimeSource
    private let last = Mutex<[String: ContinuousClock.Instant]>([:])

    init(logger: Logger, metrics: ServerMetrics, time: TimeSource) {
        self.logger = logger
        self.metrics = metrics
        self.time = time
    }

    func note(_ cache: String, _ error: any Error) {
        metrics.cacheErrors.add([cache])
        let now = time.now
        let isNews = last.withLock { last in
            if let last = last[cache], now - last < .seconds(60) { return false }
            last[cache] = now
            return true
        }
        if isNews {
            logger.error("The \(cache) cache cannot be used", metadata: ["cause": "\(error)"])
        }
    }
}
