public import Foundation
public import FoundationNetworking
import HalcyonWork
import Synchronization

/// Downloads images over HTTP and HTTPS.
///
/// Equal requests made at the same time share one transfer. A downloader never touches a cache and
/// never applies image modifiers. It stays alive until its downloads have ended.
///
/// A changed property applies to downloads that begin afterwards.
///
/// A downloader does not use `URLSession`, so two of Kingfisher's properties have no counterpart:
/// - `sessionDelegate`: the events and decisions of its subclasses belong to `delegate`
///   (responses, data, ends), the option `redirectHandler` (redirects),
///   `authenticationChallengeResponder`, `serverTrustEvaluator` and `clientCertificate` (challenges)
///   and `NetworkMetrics` (measurements).
/// - `requestsUsePipelining`: an HTTP/1 connection carries one request at a time, as in browsers;
///   HTTP/2 always carries many.
///
/// ```swift
/// let downloader = ImageDownloader(name: "avatars")
/// downloader.maximumResponseSize = 4 << 20
///
/// let result = try await downloader.downloadImage(with: url)
/// print(result.image.pixelSize, "in", result.originalData.count, "bytes")
/// ```
open class ImageDownloader: @unchecked Sendable {
    // Unchecked because the class is open; all state is behind mutexes or constant.

    /// The default downloader.
    public static let `default` = ImageDownloader(name: "default")

    let name: String
    let downloads = Downloads()
    /// The requests whose asynchronous modifier is running, one for a handle.
    let preparations = Mutex<[ObjectIdentifier: (url: URL, handle: DownloadTask)]>([:])
    /// The wall clock, for dates in HTTP.
    let now: @Sendable () -> Date
    let revalidations: Revalidations
    let network: any NetworkMonitoring
    let cacheLog: HTTPCacheLog
    let serverPauses: ServerPauses
    private let settings: Mutex<DownloaderSettings>

    /// A downloader with a name, which must not be empty: that is a programming error and traps.
    public init(name: String) {
        precondition(!name.isEmpty, "a downloader's name must not be empty")
        self.name = name
        now = { .coarse }
        network = NetworkMonitor.shared
        cacheLog = HTTPCacheLog()
        revalidations = Revalidations(now: now, network: network)
        serverPauses = ServerPauses(now: now)
        settings = Mutex(DownloaderSettings())
    }

    /// Creates a downloader on `transport`, or on the network if that is `nil`; `scanTime` measures
    /// `scanInterval`, `now` is the wall clock.
    init(
        name: String, transport: (any HTTPTransport)?,
        scanTime: TimeSource = .system,
        now: @escaping @Sendable () -> Date = { .coarse }, serverPauses: ServerPauses? = nil,
        network: any NetworkMonitoring = NetworkMonitor.shared,
        cacheLog: HTTPCacheLog = HTTPCacheLog()
    ) {
        precondition(!name.isEmpty, "a downloader's name must not be empty")
        self.name = name
        self.now = now
        self.network = network
        self.cacheLog = cacheLog
        revalidations = Revalidations(now: now, network: network)
        self.serverPauses = serverPauses ?? ServerPauses(now: now)
        settings = Mutex(DownloaderSettings(scanTime: scanTime, fixedTransport: transport))
    }

    /// A downloader for tests of programs, with another transport and wall clock.
    package convenience init(
        name: String, transport: any HTTPTransport, now: @escaping @Sendable () -> Date
    ) {
        self.init(name: name, transport: transport, scanTime: .system, now: now)
    }

    /// The timeout for response data, in seconds; 15 by default. Also the `timeoutInterval` of the
    /// request, where a request modifier may change it.
    ///
    /// Counted from the sending of the request. In each such period at least 16 KiB, or the end of
    /// the response, must arrive: a server that sends a byte now and then times out like a silent
    /// one.
    open var downloadTimeout: TimeInterval {
        get { settings.withLock { $0.downloadTimeout } }
        set { settings.withLock { $0.downloadTimeout = newValue } }
    }

    /// The timeout for a connection including TLS, in seconds; 15 by default.
    open var connectTimeout: TimeInterval {
        get { settings.withLock { $0.client.connectTimeout } }
        set { settings.withLock { $0.client.connectTimeout = newValue } }
    }

    /// The maximum duration of a whole download, from start to last byte, in seconds; 600 by
    /// default, `nil` for no limit.
    open var maximumDownloadDuration: TimeInterval? {
        get { settings.withLock { $0.maximumDownloadDuration } }
        set { settings.withLock { $0.maximumDownloadDuration = newValue } }
    }

    /// The maximum number of HTTP/1 connections per host; 6 by default. Further requests wait. All
    /// requests to an HTTP/2 server share one connection.
    open var maximumConnectionsPerHost: Int {
        get { settings.withLock { $0.client.connectionsPerHost } }
        set { settings.withLock { $0.client.connectionsPerHost = max(1, newValue) } }
    }

    /// The maximum size of a body after content decoding, in bytes; 100 MiB by default, `nil` for
    /// no limit. A larger response fails as soon as its size is known.
    open var maximumResponseSize: Int? {
        get { settings.withLock { $0.client.maximumResponseSize } }
        set { settings.withLock { $0.client.maximumResponseSize = newValue } }
    }

    /// The limits of a downloaded image, checked before decoding; the option `decodingLimits`
    /// overrides them. 150 million pixels by default.
    open var decodingLimits: DecodingLimits {
        get { settings.withLock { $0.decodingLimits } }
        set { settings.withLock { $0.decodingLimits = newValue } }
    }

    /// Hosts whose certificates are not verified at all; `nil` (none) by default. Compared with the
    /// host of each request, also after redirects, without regard to case.
    ///
    /// Anybody between this program and such a host can read and change what is downloaded.
    open var trustedHosts: Set<String>? {
        get { settings.withLock { $0.trustedHosts } }
        set { settings.withLock { $0.trustedHosts = newValue } }
    }

    /// Decides which servers are trusted in place of `trustedHosts`, which is then ignored; `nil` by
    /// default: certificates are verified against the system's roots and `additionalTrustRoots`.
    open var serverTrustEvaluator: ServerTrustEvaluator? {
        get { settings.withLock { $0.client.serverTrustEvaluator } }
        set { settings.withLock { $0.client.serverTrustEvaluator = newValue } }
    }

    /// The certificate for servers that ask for one (mutual TLS); `nil` by default. One that cannot
    /// be read fails every HTTPS download.
    open var clientCertificate: ClientCertificate? {
        get { settings.withLock { $0.client.clientCertificate } }
        set { settings.withLock { $0.client.clientCertificate = newValue } }
    }

    /// The networks that may be reached; all by default. A server that downloads URLs from its
    /// users sets `.publicOnly`: a request, redirect or alternative source that leads to a
    /// forbidden address fails with `ImageTransportError.addressRefused` before anything is sent.
    /// Proxies are then not used.
    open var addressPolicy: AddressPolicy {
        get { settings.withLock { $0.client.addressPolicy } }
        set { settings.withLock { $0.client.addressPolicy = newValue } }
    }

    /// Whether requests use the proxies named by the environment (`http_proxy`, `https_proxy`,
    /// `all_proxy`, `no_proxy`); true by default.
    open var usesEnvironmentProxies: Bool {
        get { settings.withLock { $0.client.usesEnvironmentProxies } }
        set { settings.withLock { $0.client.usesEnvironmentProxies = newValue } }
    }

    /// The supplier of user names and passwords for servers that require them; `nil` by default:
    /// then the response with status 401 is the result.
    open weak var authenticationChallengeResponder: (any AuthenticationChallengeResponsible)? {
        get { settings.withLock { $0.challengeResponder } }
        set { settings.withLock { $0.challengeResponder = newValue } }
    }

    /// Limits and header fields in the form of `URLSession`; `.ephemeral` by default.
    ///
    /// Setting it copies it and cancels all running downloads (`taskCancelled`). From then on these
    /// fields apply:
    /// - `timeoutIntervalForRequest`: the shorter of it and the request's timeout (`downloadTimeout`);
    /// - `timeoutIntervalForResource`: the shorter of it and `maximumDownloadDuration`;
    /// - `httpMaximumConnectionsPerHost`: sets `maximumConnectionsPerHost`;
    /// - `httpAdditionalHeaders`: added to requests that have no field of the name, after the request
    ///   modifier.
    ///
    /// All others (caches, cookies, proxies, credential storage, protocol classes) are ignored.
    open var sessionConfiguration: URLSessionConfiguration {
        get { settings.withLock { $0.sessionConfiguration } ?? .ephemeral }
        set {
            let copy = newValue.copy() as? URLSessionConfiguration ?? newValue
            settings.withLock { $0.apply(copy) }
            cancelAll()
        }
    }

    /// Certificates in PEM form (each text may hold several) that are trusted as roots in addition to
    /// the system's; none by default. A text that cannot be read fails every HTTPS download.
    open var additionalTrustRoots: [String] {
        get { settings.withLock { $0.client.additionalTrustRoots } }
        set { settings.withLock { $0.client.additionalTrustRoots = newValue } }
    }

    /// Whether low data mode is active; false by default. Called on the thread that starts a
    /// download with the option `lowDataMode`; if true, the download fails with
    /// `ImageTransportError.lowDataMode` before anything is sent, and `KingfisherManager` loads the
    /// option's source instead.
    ///
    /// Linux has no low data mode of its own. The program decides what it means: a metered
    /// connection (`org.freedesktop.NetworkManager`'s `Metered`, for example), or a setting.
    open var isLowDataModeActive: @Sendable () -> Bool {
        get { settings.withLock { $0.isLowDataModeActive } }
        set { settings.withLock { $0.isLowDataModeActive = newValue } }
    }

    /// Whether, and where, interrupted downloads are kept, so that the next download of the same
    /// URL fetches only the rest; `nil`, the default, keeps none. Two downloaders, also of
    /// different programs, may use one folder.
    open var resumption: DownloadResumption? {
        get { settings.withLock { $0.partials?.resumption } }
        set {
            var partials = newValue.map(PartialDownloads.init)
            // The previous value is released after the lock.
            settings.withLock { swap(&$0.partials, &partials) }
        }
    }

    /// Whether a request during a server's pause (see ``serverPause(for:)``) fails at once with
    /// `ImageTransportError.pausedByServer`, before anything is sent. False by default, since a
    /// user is waiting. Useful for a server, which can pass the pause on.
    open var honorsServerPause: Bool {
        get { settings.withLock { $0.honorsServerPause } }
        set { settings.withLock { $0.honorsServerPause = newValue } }
    }

    /// The observer of downloads, which also takes part in decisions.
    open weak var delegate: (any ImageDownloaderDelegate)? {
        get { settings.withLock { $0.delegate } }
        set { settings.withLock { $0.delegate = newValue } }
    }

    /// Downloads and processes an image.
    ///
    /// `completionHandler` is called exactly once, on the options' callback queue, after this has returned.
    /// - Returns: The caller's share of the download. It is not initialised yet while an asynchronous
    ///   request modifier runs, and never when there is no valid request.
    @discardableResult
    open func downloadImage(
        with url: URL, options: KingfisherParsedOptionsInfo,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        let handle = DownloadTask()
        load(
            url, options, progress: options.watcher?.progress, handle: handle,
            completion: completionHandler)
        return handle
    }

    /// Downloads and processes an image.
    ///
    /// `progressBlock` is called on the main queue when bytes have arrived, if the total is known;
    /// `completionHandler` exactly once, on the options' callback queue, after this has returned.
    /// - Returns: The caller's share of the download. It is not initialised yet while an asynchronous
    ///   request modifier runs, and never when there is no valid request.
    @discardableResult
    open func downloadImage(
        with url: URL, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        let handle = DownloadTask()
        load(
            url, KingfisherParsedOptionsInfo(options), progress: MainQueueProgress(progressBlock),
            handle: handle, completion: completionHandler)
        return handle
    }

    /// Downloads and processes an image.
    ///
    /// `completionHandler` is called exactly once, on the options' callback queue, after this has returned.
    /// - Returns: The caller's share of the download. It is not initialised yet while an asynchronous
    ///   request modifier runs, and never when there is no valid request.
    @discardableResult
    open func downloadImage(
        with url: URL, options: KingfisherOptionsInfo? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        downloadImage(
            with: url, options: KingfisherParsedOptionsInfo(options),
            completionHandler: completionHandler)
    }

    var currentSettings: DownloaderSettings { settings.withLock { $0 } }

    func transport() throws -> any HTTPTransport {
        if let current = settings.withLock({ $0.currentTransport }) { return current }
        let made = try CurlTransport.shared(for: settings.withLock { $0.client })
        settings.withLock { $0.network = made }
        return made
    }
}

struct DownloaderSettings: Sendable {
    var downloadTimeout: TimeInterval = 15
    var maximumDownloadDuration: TimeInterval? = 600
    var decodingLimits = DecodingLimits.default
    var trustedHosts: Set<String>?
    /// `nil` for the default: creating one makes Foundation create folders for an unused cache.
    var sessionConfiguration: URLSessionConfiguration?
    /// `nil` until a session configuration was set.
    var sessionLimits: SessionLimits?
    // Unsafe: called on several threads, which the responder must allow for, as in Kingfisher.
    nonisolated(unsafe) weak var challengeResponder: (any AuthenticationChallengeResponsible)?
    var client = HTTPClientConfiguration()
    /// Measures the time between the scans of a progressive display.
    var scanTime = TimeSource.system
    var isLowDataModeActive: @Sendable () -> Bool = { false }
    var honorsServerPause = false
    /// `nil` if interrupted downloads are not kept.
    var partials: PartialDownloads?
    // Unsafe: as above.
    nonisolated(unsafe) weak var delegate: (any ImageDownloaderDelegate)?
    var fixedTransport: (any HTTPTransport)?
    /// The last transport made.
    var network: CurlTransport?

    /// The fixed transport, or the last one made if the configuration has not changed since.
    var currentTransport: (any HTTPTransport)? {
        fixedTransport ?? (network?.clientConfiguration == client ? network : nil)
    }

    func trustsAnyCertificate(of host: String?) -> Bool {
        guard client.serverTrustEvaluator == nil, let trustedHosts, let host = host?.lowercased()
        else { return false }
        return trustedHosts.contains { $0.lowercased() == host }
    }
}

struct SessionLimits: Sendable {
    /// Seconds; the shorter of this and a request's own timeout counts.
    let requestTimeout: TimeInterval
    /// Seconds; the shorter of this and `maximumDownloadDuration` counts.
    let resourceTimeout: TimeInterval
    let connectionsPerHost: Int
    /// Added to requests that have no field of the name.
    let headers: [String: String]

    init(_ configuration: URLSessionConfiguration) {
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        headers = Dictionary(
            (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") },
            uniquingKeysWith: { first, _ in first })
    }
}

extension DownloaderSettings {
    mutating func apply(_ configuration: URLSessionConfiguration) {
        let limits = SessionLimits(configuration)
        sessionConfiguration = configuration
        sessionLimits = limits
        client.connectionsPerHost = max(1, limits.connectionsPerHost)
    }

    func completed(_ request: URLRequest) -> URLRequest {
        var request = request
        for (name, value) in sessionLimits?.headers ?? [:]
        where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    func stallTimeout(of request: URLRequest) -> Duration {
        let seconds = min(request.timeoutInterval, sessionLimits?.requestTimeout ?? .infinity)
        return .seconds(max(0, seconds))
    }

    /// The maximum duration of a whole download; `nil` for no limit.
    var longestDownload: Duration? {
        let limits = [maximumDownloadDuration, sessionLimits?.resourceTimeout].compactMap { $0 }
        return limits.min().map { .seconds(max(0, $0)) }
    }
}
