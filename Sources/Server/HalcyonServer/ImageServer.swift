import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonStorage
import HalcyonTelemetry
package import HalcyonWork
public import Logging
import Synchronization
public import Tracing
import Vips

/// Answers requests for pictures by URL: finds the source, makes the picture and caches it.
///
/// ```swift
/// var configuration = ImageServerConfiguration()
/// configuration.sources.local.root = root
/// configuration.cache.directory = caches
/// configuration.signature.isRequired = false
/// let server = try ImageServer(configuration: configuration)
/// ```
public final class ImageServer: Sendable {
    public let configuration: ImageServerConfiguration
    /// The program's own origins by URL scheme.
    let origins: [String: any ImageOrigin]
    let logger: Logger
    let time: TimeSource
    let metrics: ServerMetrics
    let spans: SpanScope
    let clients = ClientRegistry()

    private let urlRules: Mutex<URLRules>
    let sources: SourceFinder
    let makers: PictureMaker
    let rules: PictureRules
    /// Changes whenever a step, an encoder or a setting may produce other bytes.
    let epoch: String
    let infos: InfoReader
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?
    /// `nil` unless the IIIF Image API is on.
    let iiif: IIIFService?
    let headers: MemoryStorage.Backend<SourceHeader>
    let purges = PurgeJournal()
    let forgetting: Forgetting
    let warming = WarmUp()
    let hitRates: HitRates
    /// Samples the log lines about requests refused because too many are waiting.
    let busyLines = Mutex(LogSampling())
    let codecs: CodecCheck
    let hasPlayground: Bool
    let uploads: PageUploads
    let watermark: StandingPicture?
    let fallback: StandingPicture?
    /// Given when a URL has asked for a watermark although there is none.
    let isFirstMissingWatermark = OneShot<Void>()
    /// The prefix of all public paths, with a slash before it and none behind.
    let prefix: String

    private let state = Observed(State.starting)
    /// The requests under way, by numbers.
    private let underWay = Mutex((next: 0, endings: [Int: Ending]()))

    enum State: String, Sendable {
        case starting, ready, draining
    }

    /// Checks the whole configuration and makes everything but the listeners.
    ///
    /// - Parameters:
    ///   - configuration: Nothing of it can be changed afterwards.
    ///   - origins: Origins for schemes other than http, https and local, by lower-case scheme.
    ///     Everything that they have may be requested.
    ///   - logger: Logs each request, at a level that depends on its outcome.
    ///   - tracer: Makes the spans of requests; by default the tracer that `InstrumentationSystem`
    ///     was bootstrapped with before, if any.
    /// - Throws: `ConfigurationError` with all that is wrong.
    public convenience init(
        configuration: ImageServerConfiguration, origins: [String: any ImageOrigin] = [:],
        logger: Logger = Logger(label: "halcyon-server"),
        tracer: any Tracer = InstrumentationSystem.tracer
    ) throws(ConfigurationError) {
        try self.init(
            configuration: configuration, origins: origins, logger: logger, tracer: tracer,
            time: .system)
    }

    /// - Parameter time: The clocks of everything but connections.
    package init(
        configuration: ImageServerConfiguration, origins: [String: any ImageOrigin],
        logger: Logger, tracer: any Tracer, time: TimeSource
    ) throws(ConfigurationError) {
        let checked = try CheckedConfiguration(configuration, origins: origins, time: time)
        self.time = time
        headers = SourceHeader.memory(time)
        hitRates = HitRates(time)
        codecs = CodecCheck(time)
        uploads = PageUploads(time)
        self.origins = origins
        for warning in checked.warnings { logger.warning("\(warning)") }
        self.configuration = configuration
        self.logger = logger
        urlRules = Mutex(checked.urlRules)
        prefix = checked.prefix
        rules = PictureRules(configuration, time: time)
        let libraries = CodecLibrary.installed.map { "\($0.name) \($0.version)" }
        epoch = "4 \(Vips.version) \(libraries.joined(separator: " ")) \(rules.version)"
        hasPlayground = configuration.showsPlayground
        iiif = checked.iiif
        watermark = checked.watermark
        fallback = checked.fallback
        let work = configuration.work
        let metrics = ServerMetrics(time)
        self.metrics = metrics
        let spans = SpanScope(tracer, time: time)
        self.spans = spans
        let forgotten = OneShot<Forgetting>()
        let pauses = checked.client?.pauses
        let cluster = Cluster(
            configuration, metrics: metrics, logger: logger, time: time,
            onForgotten: { purge, done in
                forgotten.whenGiven { forgetting in
                    Task {
                        await forgetting.forget(purge)
                        await done()
                        forgetting.purges.heard.update { $0 += 1 }
                    }
                }
            },
            onPause: { pauses?.learn($0, until: $1, at: time.date) })
        self.cluster = cluster
        pauses?.teller.give { [weak cluster] in cluster?.tellPause(of: $0, until: $1) }
        let directory = configuration.cacheDirectory
        let trouble = CacheTrouble(logger: logger, metrics: metrics, time: time)
        let downloads = Gate(
            "downloads",
            Admission(
                width: work.downloads, widthOfGroup: work.downloadsPerHost, queue: work.queue),
            time: time)
        let decoders = Gate(
            "decoders",
            Admission(width: min(work.decoders, Processors.count), queue: work.queue), time: time)
        let encoders = Gate(
            "encoders", Admission(width: work.avifEncoders, queue: work.queue), time: time)
        if let memory = work.memory { DecodingBudget.shared.limit = memory }
        DecodingIsolation.current = configuration.processing.isolation
        DecodingWorker.report = { logger.warning("decoding", metadata: ["what": "\($0)"]) }
        let cache = configuration.cache
        let folder =
            cache.sources.bytes > 0 && checked.client != nil
            ? SourceFolder(cache.sources, in: directory, time: time) { trouble.note("source", $0) }
            : nil
        let results = ResultCache(
            cache.results, in: directory, metrics: metrics, spans: spans, time: time
        ) { trouble.note("result", $0) }
        let remote = checked.client.map {
            RemoteSources(
                configuration, client: $0, gate: downloads, folder: folder, results: results,
                cluster: cluster, metrics: metrics, spans: spans, time: time)
        }
        sources = SourceFinder(
            local: checked.local, remote: remote,
            maxBytes: configuration.limits.maxSourceBytes, rules: checked.sourceRules,
            purges: purges, spans: spans)
        makers = PictureMaker(
            sources: sources, results: results, gate: decoders, encoders: encoders,
            downloads: downloads, failures: KnownFailures(for: cache.negativeTTL, time: time),
            cluster: cluster, metrics: metrics, spans: spans, time: time)
        infos = InfoReader(
            sources: sources, rules: rules, gate: decoders,
            failures: KnownFailures(for: cache.negativeTTL, time: time), time: time)
        forgetting = Forgetting(
            remote: remote, results: results, failures: makers.failures, infos: infos,
            headers: headers, standing: [watermark, fallback].compactMap(\.self), purges: purges)
        forgotten.give(forgetting)
    }

    var presentURLRules: URLRules { urlRules.withLock { $0 } }
    var parser: PlanParser { urlRules.withLock { $0.parser } }
    var sourceParser: PlanParser { urlRules.withLock { $0.sourceParser } }
    var signer: PathSigner { urlRules.withLock { $0.signer } }

    func setURLRules(_ rules: URLRules) { urlRules.withLock { $0 = rules } }

    var currentState: State { state.value }

    func setState(_ new: State) { state.update { $0 = new } }

    func wait(until wanted: State) async { await state.wait { $0 == wanted } }

    /// Registers a request, so that it can be ended with all others; to be called once it is answered.
    func begin(_ ending: Ending) -> @Sendable () -> Void {
        let number = underWay.withLock { state in
            state.next += 1
            state.endings[state.next] = ending
            return state.next
        }
        metrics.inFlight.add()
        return { [self] in
            _ = underWay.withLock { $0.endings.removeValue(forKey: number) }
            metrics.inFlight.add([], -1)
        }
    }

    /// Ends all requests under way with 503.
    func endAllRequests() {
        for ending in underWay.withLock({ Array($0.endings.values) }) { ending.give(.draining) }
    }

    /// The number of requests being answered.
    public var requestsUnderWay: Int { underWay.withLock { $0.endings.count } }

    /// The path that asks for `path`, with its signature before it and below the prefix of the server:
    /// `/rs:fit:300:300/plain/https://example.com/a.jpg` becomes `/SIGNATURE/rs:fit:…`.
    ///
    /// `nil` when there is no key to sign with.
    public func sign(_ path: String) -> String? { signer.signed(path).map { prefix + $0 } }
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

extension ImageServerConfiguration {
    var cacheDirectory: URL {
        if let directory = cache.directory { return URL(fileURLWithPath: directory) }
        return DiskStorage.userCaches().appendingPathComponent("halcyon-server")
    }

    /// The path that asks for `path`, signed with the first key, and below the prefix; see
    /// ``ImageServer/sign(_:)``. Nothing else of the configuration has to make sense.
    public func sign(_ path: String) -> String? {
        var signature = signature
        var faults: [String] = []
        signature.takeKeysFile(&faults)
        return signature.signer.signed(path.hasPrefix("/") ? path : "/" + path).map { prefix + $0 }
    }

    /// ``pathPrefix`` with a slash before each of its segments.
    var prefix: String { pathPrefix.split(separator: "/").map { "/" + $0 }.joined() }
}

extension ImageServerConfiguration.Signature {
    /// Signs with the keys that are there, and proves signatures.
    var signer: PathSigner {
        PathSigner(
            pairs: zip(keys, salts).compactMap { PathSigner.Pair(hexadecimalKey: $0, salt: $1) },
            size: size, trusted: trusted)
    }
}
