import HalcyonServerURLs
import HalcyonWork

extension RequestRouter {
    init(
        _ configuration: ImageServerConfiguration, _ checked: CheckedConfiguration,
        _ stores: Stores, urls: URLReader, watermarks: Watermarks, rules: PictureRules,
        errors: ErrorAnswers, fields: CommonFields, health: HealthHandler, metrics: ServerMetrics,
        time: TimeSource
    ) {
        let timer = RequestTimer(timeout: configuration.work.requestTimeout, time: time)
        let caching = errors.caching
        let sources = RequestSources(
            finder: stores.sources, forwardedFields: configuration.sources.http.forwardHeaders,
            sharesPictures: stores.cluster?.work != nil)
        let isLoopbackOnly = configuration.isLoopbackOnly
        let answers = PictureAnswers(
            caching: caching, metrics: metrics, time: time,
            http: configuration.http, usesClientHints: configuration.negotiation.usesClientHints,
            isLoopbackOnly: isLoopbackOnly)
        let addresses = PublicAddresses(
            configured: configuration.publicURL, prefix: checked.prefix)
        let processing = ProcessingHandler(
            sources: sources, watermarks: watermarks, rules: rules,
            pictures: stores.pictures, answers: answers,
            fallback: checked.fallback.map {
                .init(picture: $0, status: configuration.fallback.status)
            }, timer: timer)
        let info = InfoHandler(
            urls: urls, sources: sources, infos: stores.infos, caching: caching, timer: timer)
        let iiif = stores.iiif.map {
            IIIFHandler(
                opener: $0, addresses: addresses, sources: sources, pictures: stores.pictures,
                answers: answers, timer: timer)
        }
        let writer = PageURLWriter(
            reader: urls, addresses: addresses,
            iiif: configuration.servesLocalSourcesByIIIF ? stores.iiif : nil)
        let page = PageHandler(
            isLoopbackOnly: isLoopbackOnly,
            checksHost: isLoopbackOnly && configuration.publicURL == nil
                && configuration.trustedProxies.isEmpty,
            sampleEndings: configuration.iiif.extensions + ["jxl", "svg"],
            maxUploadBytes: configuration.limits.maxSourceBytes, processing: processing,
            info: info, uploads: PageUploads(time), writer: writer, errors: errors)
        self.init(
            prefix: checked.prefix, maxURLLength: configuration.limits.maxURLLength,
            secret: configuration.secret, fields: fields, urls: urls, processing: processing,
            info: info, iiif: iiif, page: configuration.showsPlayground ? page : nil,
            health: health)
    }
}
