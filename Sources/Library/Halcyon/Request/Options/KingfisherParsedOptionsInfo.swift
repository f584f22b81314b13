public import Foundation

/// The options of one request, parsed.
///
/// Copies share their storage until one of them is changed: options are passed along widely with
/// every request, and there are many requests.
@dynamicMemberLookup
public struct KingfisherParsedOptionsInfo: Sendable {
    private final class Storage: Sendable {
        let values: Values

        init(_ values: consuming Values) {
            self.values = values
        }
    }

    private var storage: Storage

    /// Parses `info`; of items given twice the last one counts.
    public init(_ info: KingfisherOptionsInfo?) {
        self.init(Values(), info ?? [])
    }

    private init(_ values: consuming Values, _ info: KingfisherOptionsInfo) {
        for item in info { values.apply(item) }
        storage = Storage(values)
    }

    func followed(by info: KingfisherOptionsInfo?) -> Self {
        guard let info, !info.isEmpty else { return self }
        return Self(storage.values, info)
    }

    static let standard = KingfisherParsedOptionsInfo(nil)

    /// One option.
    public subscript<Setting>(dynamicMember option: WritableKeyPath<Values, Setting>) -> Setting {
        get { storage.values[keyPath: option] }
        set { change { $0[keyPath: option] = newValue } }
    }

    mutating func change(_ change: (inout Values) -> Void) {
        var values = storage.values
        change(&values)
        storage = Storage(values)
    }

    package func cacheKey(of source: Source) -> String {
        guard let normalizer = self.cacheKeyNormalizer, case .network(let resource) = source else {
            return source.cacheKey
        }
        let key = resource.cacheKey
        let url = resource.downloadURL
        // Any other key was given for the resource.
        return key == url.absoluteString ? normalizer.key(for: url) : key
    }

    var imageCreatingOptions: ImageCreatingOptions {
        ImageCreatingOptions(
            scale: self.scaleFactor, preloadAll: self.preloadAllAnimationData,
            onlyFirstFrame: self.onlyLoadFirstFrame, limits: self.decodingLimits ?? .default)
    }
}

extension KingfisherParsedOptionsInfo {
    /// The values of the options; each is also a member of the options.
    public struct Values: Sendable {
        public var targetCache: ImageCache?
        /// The cache of originals; `targetCache` unless set.
        public var originalCache: ImageCache? {
            get { ownOriginalCache ?? targetCache }
            set { ownOriginalCache = newValue }
        }
        private var ownOriginalCache: ImageCache?
        public var downloader: ImageDownloader?
        public var transition: ImageTransition = .none
        public var forceRefresh = false
        public var fromMemoryCacheOrRefresh = false
        public var forceTransition = false
        public var cacheMemoryOnly = false
        public var waitForCache = false
        public var onlyFromCache = false
        public var backgroundDecode = false
        public var callbackQueue: CallbackQueue = .mainCurrentOrAsync
        public var scaleFactor: CGFloat = 1
        public var alsoPrefetchToMemory = false
        public var preloadAllAnimationData = false
        public var requestModifier: (any AsyncImageDownloadRequestModifier)?
        public var redirectHandler: (any ImageDownloadRedirectHandler)?
        public var processor: any ImageProcessor = DefaultImageProcessor.default
        public var cacheSerializer: any CacheSerializer = DefaultCacheSerializer.default
        public var imageModifier: (any ImageModifier)?
        public var keepCurrentImageWhileLoading = false
        public var cancelWhenSuperseded = false
        /// `nil` leaves the placeholder; a `nil` inside empties the view.
        public var onFailureImage: KFCrossPlatformImage??
        public var onlyLoadFirstFrame = false
        public var cacheOriginalImage = false
        public var keepPositionInOriginal = false
        public var loadDiskFileSynchronously = false
        public var asyncCacheTypeCheck = false
        public var diskStoreWriteOptions: Data.WritingOptions = []
        public var memoryCacheExpiration: StorageExpiration?
        public var memoryCacheAccessExtendingExpiration: ExpirationExtending = .cacheTime
        public var diskCacheExpiration: StorageExpiration?
        public var diskCacheAccessExtendingExpiration: ExpirationExtending = .cacheTime
        public var processingQueue: CallbackQueue?
        public var forcedExtension: String?
        public var alternativeSources: [Source]?
        public var retryStrategy: (any RetryStrategy)?
        public var progressiveJPEG: ImageProgressive?
        public var downloadPriority: Float = 0.5
        public var lowDataModeSource: Source?
        public var decodingLimits: DecodingLimits?
        public var httpCaching = HTTPCaching.off
        public var onHTTPRevalidation: (@Sendable (HTTPRevalidation) -> Void)?
        public var cacheKeyNormalizer: CacheKeyNormalizer?
        public var onSize: (@Sendable (PixelSize) -> Void)?
        public var onEvent: (@Sendable (ImageEvent) -> Void)?
        /// The announcer that calls `onSize`; `nil` until the request has one.
        var announcement: SizeAnnouncement?
        /// The receiver of the request's events; `nil` without listeners.
        var events: RequestEvents?
        /// The observers of the download, set when a subclass of the downloader loads for the
        /// request.
        var watcher: (progress: MainQueueProgress?, viewer: ProgressiveViewer?)?

        fileprivate mutating func apply(_ item: KingfisherOptionsInfoItem) {
            switch item {
            case .targetCache(let value): targetCache = value
            case .originalCache(let value): originalCache = value
            case .downloader(let value): downloader = value
            case .transition(let value): transition = value
            case .forceRefresh: forceRefresh = true
            case .fromMemoryCacheOrRefresh: fromMemoryCacheOrRefresh = true
            case .forceTransition: forceTransition = true
            case .cacheMemoryOnly: cacheMemoryOnly = true
            case .waitForCache: waitForCache = true
            case .onlyFromCache: onlyFromCache = true
            case .backgroundDecode: backgroundDecode = true
            case .callbackQueue(let value): callbackQueue = value
            case .scaleFactor(let value): scaleFactor = value
            case .alsoPrefetchToMemory: alsoPrefetchToMemory = true
            case .preloadAllAnimationData: preloadAllAnimationData = true
            case .requestModifier(let value): requestModifier = value
            case .redirectHandler(let value): redirectHandler = value
            case .processor(let value): processor = value
            case .cacheSerializer(let value): cacheSerializer = value
            case .imageModifier(let value): imageModifier = value
            case .keepCurrentImageWhileLoading: keepCurrentImageWhileLoading = true
            case .cancelWhenSuperseded: cancelWhenSuperseded = true
            case .onFailureImage(let value): onFailureImage = .some(value)
            case .onlyLoadFirstFrame: onlyLoadFirstFrame = true
            case .cacheOriginalImage: cacheOriginalImage = true
            case .keepPositionInOriginal: keepPositionInOriginal = true
            case .loadDiskFileSynchronously: loadDiskFileSynchronously = true
            case .asyncCacheTypeCheck: asyncCacheTypeCheck = true
            case .diskStoreWriteOptions(let value): diskStoreWriteOptions = value
            case .memoryCacheExpiration(let value): memoryCacheExpiration = value
            case .memoryCacheAccessExtendingExpiration(let value):
                memoryCacheAccessExtendingExpiration = value
            case .diskCacheExpiration(let value): diskCacheExpiration = value
            case .diskCacheAccessExtendingExpiration(let value):
                diskCacheAccessExtendingExpiration = value
            case .processingQueue(let value): processingQueue = value
            case .forcedCacheFileExtension(let value): forcedExtension = value
            case .alternativeSources(let value): alternativeSources = value
            case .cacheKeyNormalizer(let value): cacheKeyNormalizer = value
            case .retryStrategy(let value): retryStrategy = value
            case .progressiveJPEG(let value): progressiveJPEG = value
            case .downloadPriority(let value): downloadPriority = value
            case .lowDataMode(let value): lowDataModeSource = value
            case .decodingLimits(let value): decodingLimits = value
            case .httpCaching(let value): httpCaching = value
            case .onHTTPRevalidation(let value): onHTTPRevalidation = value
            case .onSize(let value): onSize = value
            case .onEvent(let value): onEvent = value
            }
        }
    }

    var asksForHTTPCaching: Bool { storage.values.httpCaching.isOn }

    var hasRequestModifier: Bool { storage.values.requestModifier != nil }

    /// The request's announcement, or a new one that calls `onSize`; `nil` without `onSize`.
    func makeAnnouncement() -> SizeAnnouncement? {
        self.announcement ?? self.onSize.map { SizeAnnouncement($0, on: self.callbackQueue) }
    }
}
