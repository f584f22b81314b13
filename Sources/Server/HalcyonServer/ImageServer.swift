import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonTelemetry
package import HalcyonWork
public import Logging
public import Tracing

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
    let clients = ClientRegistry()
    let state: ServerState
    let gates: WorkGates
    let stores: Stores
    let urls: URLReader
    let lifecycle: RequestLifecycle
    let router: RequestRouter
    let operations: OperationsHandler
    let warming = WarmUp()

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
        for warning in checked.warnings { logger.warning("\(warning)") }
        (self.configuration, self.origins, self.logger) = (configuration, origins, logger)
        self.time = time
        if let memory = configuration.work.memory { DecodingBudget.shared.limit = memory }
        DecodingIsolation.current = configuration.processing.isolation
        DecodingWorker.report = { logger.warning("decoding", metadata: ["what": "\($0)"]) }

        metrics = ServerMetrics(time)
        state = ServerState(inFlight: metrics.inFlight)
        gates = WorkGates(configuration.work, time: time)
        urls = URLReader(checked.urlRules, configuration, metrics: metrics, logger: logger)
        let rules = PictureRules(configuration, time: time)
        let spans = SpanScope(tracer, time: time)
        stores = Stores(
            configuration, checked, rules: rules, gates: gates, metrics: metrics, spans: spans,
            logger: logger, time: time)
        let prefix = checked.prefix
        let hitRates = HitRates(time)
        let paths = LoggedPaths(prefix: prefix, unsigned: checked.iiif?.prefix)
        let errors = ErrorAnswers(
            caching: AnswerCaching(configuration, time: time), gates: gates,
            isUnsigned: !urls.requiresSignature, detail: configuration.http.errorBodies)
        let forwarded = configuration.sources.http.forwardHeaders
        let fields = CommonFields(
            forwarded: forwarded.filter(ForwardedFields.tellsSourcesApart),
            isPrivate: configuration.secret != nil, allowedOrigins: configuration.http.allowOrigin,
            time: time)
        lifecycle = RequestLifecycle(
            proxies: configuration.trustedProxies,
            spans: RequestSpans(scope: spans, paths: paths, time: time), state: state,
            errors: errors, fields: fields,
            log: AccessLog(
                logger: logger, metrics: metrics, hitRates: hitRates, paths: paths,
                showsHits: configuration.log.showsHits, isUnsigned: errors.isUnsigned, time: time))
        let watermarks = Watermarks(
            picture: checked.watermark, opacity: configuration.watermark.opacity,
            sources: stores.sources, limits: rules.decodingLimits, logger: logger)
        let health = HealthHandler(state: state, codecs: CodecCheck(time))
        var router = RequestRouter(
            configuration, checked, stores, urls: urls, watermarks: watermarks, rules: rules,
            errors: errors, fields: fields, health: health, metrics: metrics, time: time)
        operations = OperationsHandler(
            health: health,
            metrics: MetricsReport(
                metrics: metrics, gates: gates,
                caches: CacheReport(
                    sources: stores.sources.remote?.known, results: stores.results,
                    hitRates: hitRates, limits: configuration.cache),
                clients: clients, cluster: stores.cluster),
            purges: PurgeHandler(
                purger: stores.purger, urls: urls, watermarks: watermarks,
                fallback: checked.fallback, prefix: prefix),
            warming: WarmHandler(
                warming: warming, route: router.answer, secret: configuration.secret, state: state,
                gates: gates, time: time),
            errors: errors, fields: fields, token: configuration.operationsToken,
            isLoopback: configuration.operationsBind?.isLoopback == true)
        router.operations = operations
        self.router = router
    }

    // Orders to make pictures end, too.
    deinit { state.enter(.draining) }

    func answer(_ request: ServerRequest) async -> ServerAnswer {
        await lifecycle.answer(request) { (request, notes) async throws(Failure) in
            try await router.answer(request, &notes)
        }
    }

    /// The number of requests being answered.
    public var requestsUnderWay: Int { state.requestCount }

    /// The path that asks for `path`, with its signature before it and below the prefix of the server:
    /// `/rs:fit:300:300/plain/https://example.com/a.jpg` becomes `/SIGNATURE/rs:fit:…`.
    ///
    /// `nil` when there is no key to sign with.
    public func sign(_ path: String) -> String? {
        urls.rules.signer.signed(path).map { router.prefix + $0 }
    }
}
