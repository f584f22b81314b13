public import HalcyonHTTP
public import HalcyonPixels
import HalcyonWork

/// The settings of an image server. A plain value: programs that embed a server fill it in
/// themselves, `halcyon-server` reads it from a file, the environment and its flags.
///
/// ```swift
/// var configuration = ImageServerConfiguration()
/// configuration.sources.local.root = "/srv/pictures"
/// configuration.signature.keys = ["943b421c9eb07c83"]
/// configuration.signature.salts = ["520f986b998545b4"]
/// ```
///
/// Durations are never negative. "No limit" is `nil`.
public struct ImageServerConfiguration: Sendable, Hashable {
    /// The addresses for pictures. `127.0.0.1:8080` by default.
    public var bind = [ListenAddress.tcp(host: "127.0.0.1", port: 8080)]
    /// The permissions of the Unix sockets that the server makes, `0660` by default: write
    /// permission allows to connect.
    public var bindMode = SocketMode(bits: 0o660)
    /// The address for metrics and the process's state; `127.0.0.1:9090` by default, `nil` for none.
    public var operationsBind: ListenAddress? = .tcp(host: "127.0.0.1", port: 9090)
    /// A token that purges and warming at `operationsBind` must carry as `Authorization: Bearer`.
    /// Without one they are accepted on loopback addresses only.
    public var operationsToken: String?
    /// Networks of proxies whose `Forwarded` and `X-Forwarded-…` are trusted; none by default.
    public var trustedProxies: [IPNetwork] = []
    /// Segments before all public paths, such as `images`; none by default.
    public var pathPrefix = ""
    /// A token that every public request must carry as `Authorization: Bearer`; none by default.
    public var secret: String?
    /// The signing of URLs.
    public var signature = Signature()
    /// The sources of pictures.
    public var sources = Sources()
    /// The limits beyond which requests are refused.
    public var limits = Limits()
    /// The limits of concurrency and time.
    public var work = Work()
    /// The shutdown of the server.
    public var drain = Drain()
    /// Defaults for processing, and the options that URLs may have.
    public var processing = Processing()
    /// The formats and sizes that are negotiated with clients.
    public var negotiation = Negotiation()
    /// The header fields and error bodies of responses.
    public var http = HTTP()
    /// The caches of sources and results.
    public var cache = Cache()
    /// Sharing between servers.
    public var shared = Shared()
    /// The log.
    public var log = Log()
    /// The contents of `/info`.
    public var info = Info()
    /// The spans of requests.
    public var tracing = Tracing()
    /// The IIIF Image API 3.0.
    public var iiif = IIIF()
    /// The picture that is drawn over results.
    public var watermark = Watermark()
    /// The picture that is sent in place of one that cannot be loaded.
    public var fallback = Fallback()
    /// Scheme, host and path before all public paths, for documents that name their own URL, such
    /// as `https://img.example.com`; by default those of the request.
    public var publicURL: String?
    /// Whether there is a page for trying things out. Anyone who can open it can have any allowed
    /// picture signed. Therefore, by default, it exists only where signatures are not required,
    /// which is on loopback addresses.
    public var playground: Bool?

    public init() {}
}

extension ImageServerConfiguration {
    /// The signing of URLs.
    public struct Signature: Sendable, Hashable {
        /// Hexadecimal. Any pair of key and salt may sign a URL; new URLs are signed with the first.
        public var keys: [String] = []
        /// Hexadecimal, one for each key.
        public var salts: [String] = []
        /// A file with more pairs, a key and its salt on each line; lines with `#` first are comments.
        public var keysFile: String?
        /// Bytes of the digest in a signature, 8…32.
        public var size = 32
        /// Texts that are accepted in place of a signature.
        public var trusted: [String] = []
        /// Whether URLs must be signed. May be off only on loopback addresses.
        public var isRequired = true
    }

    /// The sources of pictures.
    public struct Sources: Sendable, Hashable {
        public var http = HTTPSources()
        public var local = LocalSources()
        /// The prefix of sources that do not begin with it.
        public var baseURL: String?
        /// `regex=replacement`, applied to the source in this order before anything is checked.
        public var rewrites: [String] = []
        /// The time that a source is used without asking its server again; 1 hour by default.
        /// Ignored where the servers' own caching rules count (`http.cacheControlPassthrough`).
        public var freshness = Duration.seconds(3600)
    }

    /// Pictures from other servers.
    public struct HTTPSources: Sendable, Hashable {
        public var isEnabled = true
        /// Patterns of URLs to fetch, such as `https://*.example.com/pictures`; none by default.
        public var allow: [String] = []
        public var ports = [80, 443]
        /// Whether addresses of private networks may be connected to.
        public var allowsPrivate = false
        public var allowsLoopback = false
        public var allowsLinkLocal = false
        /// Networks that may be connected to whatever their kind, unless they are denied.
        public var allowAddresses: [IPNetwork] = []
        public var denyAddresses: [IPNetwork] = []
        /// Names of request header fields that are forwarded to the source's server, but not across
        /// redirects to other servers. Sources fetched with different values are cached separately.
        /// None by default.
        public var forwardHeaders: [String] = []
        /// The maximum number of redirects; each is checked like the first request. 3 by default.
        public var redirects = 3
        /// `Halcyon/` and the version by default.
        public var userAgent = "Halcyon/\(Release.version)"
        /// The timeout for connecting; 2 seconds by default.
        public var connectTimeout = Duration.seconds(2)
        /// The longest wait for the response, and then for each 16 KiB of it; 5 seconds by default.
        public var stallTimeout = Duration.seconds(5)
        /// The longest time for a fetch with all its redirects; 10 seconds by default.
        public var totalTimeout = Duration.seconds(10)
    }

    /// Pictures in a local folder.
    public struct LocalSources: Sendable, Hashable {
        /// The folder of `local:` paths; `nil`, the default, for none.
        public var root: String?
        /// Whether symbolic links are followed as long as they stay below the root.
        public var followsSymlinks = false
    }

    /// The limits beyond which requests are refused.
    public struct Limits: Sendable, Hashable {
        /// Bytes of a request's target.
        public var maxURLLength = 8192
        /// Bytes of a source; 20 MiB by default.
        public var maxSourceBytes = 20 << 20
        /// Pixels of all frames of a source together; 50 million by default.
        public var maxPixels = 50_000_000
        /// Pixels of one frame, in place of `maxPixels` for animations; none by default.
        public var maxFramePixels: Int?
        /// Bytes of memory that decoding one picture may take; 256 MiB by default. Beyond what is estimated
        /// from its header a source is refused, whole or, where its format allows for it, unless it is made
        /// smaller.
        public var maxDecodingBytes = 256 << 20
        /// Frames of an animation that are used; later ones are left out. 60 by default.
        public var maxFrames = 60
        /// The longer side of a result, which is made smaller to keep it; 8192 by default.
        public var maxResultDimension = 8192
        /// Bytes of a result; 50 MiB by default.
        public var maxResultBytes = 50 << 20
        /// Options in one URL.
        public var maxOptions = 40
        public var maxDPR = 8.0
        public var maxBlurSigma = 100.0
        /// Bytes of all header fields of a request; 32 KiB by default.
        public var maxHeaderBytes = 32 << 10
    }

    /// The limits of concurrency and time.
    public struct Work: Sendable, Hashable {
        /// Concurrent fetches; 8 for each core by default.
        public var downloads = 8 * Processors.count
        public var downloadsPerHost = 16
        /// Pictures that are decoded, processed and encoded concurrently; the number of cores by
        /// default, and never more.
        public var decoders = Processors.count
        /// Pictures that are made concurrently with multithreaded encoders (AVIF and HEIC); the
        /// number of cores by default, and fewer to leave room for other formats.
        public var avifEncoders = Processors.count
        /// The memory limit for all concurrent decoding in the process, in bytes; `nil`, the
        /// default, is a quarter of the memory that the process may use. Pictures wait for each
        /// other's memory, and one that needs more than the limit is refused.
        public var memory: Int?
        /// Requests that may wait for each of the kinds of work above; further ones are answered
        /// with 429. 8 for each core by default.
        public var queue = 8 * Processors.count
        /// From the head of a request to the first byte of its answer; 15 seconds by default.
        public var requestTimeout = Duration.seconds(15)
        /// From the first byte of a request to the end of its head; 5 seconds by default.
        public var headTimeout = Duration.seconds(5)
        /// The longest time in which a client accepts no byte of a response; 10 seconds by default.
        public var writeTimeout = Duration.seconds(10)
        /// The longest idle time of a connection; 15 seconds by default.
        public var idleTimeout = Duration.seconds(15)
        /// Concurrent client connections for each address the server listens on. Connections are
        /// accepted in groups of up to four: there may be three more for a while.
        public var maxConnections = 2048
    }

    /// The shutdown of the server.
    public struct Drain: Sendable, Hashable {
        /// The time that requests are still accepted for once the server has reported not to be ready.
        public var delay = Duration.zero
        /// The longest time for requests under way to end; 20 seconds by default.
        public var timeout = Duration.seconds(20)
        /// The time for which connections without a request stay open after no more are accepted,
        /// since a request may be on its way; a second by default, and never more than half of
        /// ``timeout``.
        public var idleTimeout = Duration.seconds(1)
    }

    /// Defaults for processing, and the options that URLs may have.
    public struct Processing: Sendable, Hashable {
        /// `name=option/option/…`.
        public var presets: [String] = []
        /// Whether URLs may contain only names of presets.
        public var onlyPresets = false
        /// The options that URLs may have, by their long or short names; `nil` for all.
        public var allowedOptions: [String]?
        /// Whether URLs may raise the limits.
        public var allowsSecurityOptions = false
        /// 1…100.
        public var quality = 80
        /// 1…100, by format.
        public var formatQuality = ["webp": 79, "avif": 63, "jxl": 77]
        /// The formats for pictures without a format in their URL: their own if it is listed, else
        /// the first possible one.
        public var preferredFormats = ["jpeg", "png", "gif"]
        public var stripsMetadata = true
        /// Whether author and copyright notice stay when metadata is stripped.
        public var keepsCopyright = true
        /// Whether results are in sRGB without a colour profile, or keep their source's.
        public var stripsColorProfile = true
        /// Whether pictures are rotated by their EXIF orientation.
        public var autoRotates = true
        /// Whether URLs may ask for unprocessed sources.
        public var allowsRaw = false
        /// Whether JPEG is written progressively.
        public var writesProgressiveJPEG = false
        /// The encoder's effort for smaller files, in the codec's own numbers by format: `webp`
        /// 0…6, `avif` and `heic` 0…9, `jxl` 1…9, `gif` 1…10.
        public var effort = ["webp": 2, "avif": 1, "jxl": 3, "gif": 3]
        /// The handling of SVG drawings.
        public var svg = SVG.rasterize
        /// The handling of truncated JPEG files.
        public var truncated = Truncated.refuse
        /// The sources to decode in separate processes, in programs that can start some
        /// (`DecodingWorker.runIfAsked()`).
        public var isolation = DecodingIsolation.foreign
    }

    /// The handling of SVG drawings.
    public enum SVG: String, Sendable, Hashable, CaseIterable {
        /// Drawings are rendered at the requested size.
        case rasterize
        /// Where no other format is requested, the drawing itself is sent, without anything that
        /// could run or load something: scripts, events, animated links, other documents, entities.
        case sanitize
        /// Drawings are not accepted as sources.
        case refuse
    }

    /// The handling of truncated JPEG files.
    public enum Truncated: String, Sendable, Hashable, CaseIterable {
        case refuse
        /// The existing part is shown, the missing part is grey; responses have `X-Truncated: 1`.
        case accept
    }

    /// The formats and sizes that are negotiated with clients.
    public struct Negotiation: Sendable, Hashable {
        /// The formats among `avif`, `webp` and `jxl` for clients that accept them, in order of
        /// preference. None by default.
        public var formats: [String] = []
        /// Whether the client hints about width and resolution count.
        public var usesClientHints = false
        /// The steps that hints are rounded up to.
        public var widthSteps = [320, 480, 640, 768, 960, 1280, 1536, 1920, 2560, 3840]
        public var dprSteps = [1, 1.5, 2, 3]
    }

    /// The header fields and error bodies of responses.
    public struct HTTP: Sendable, Hashable {
        /// The time that caches may keep a response; a year by default. With zero they ask each
        /// time. `nil` is a year, or no time at all where URLs need no signature.
        public var ttl: Duration?
        /// The upper limit for lifetimes taken over from a source; a year by default.
        public var maxTTL = Duration.seconds(31_536_000)
        /// The time that caches may keep a response to an erroneous URL; zero by default.
        public var errorTTL = Duration.zero
        /// The time after expiry for which caches may use a picture while they ask for a new one;
        /// by default they are not told any.
        public var staleWhileRevalidate: Duration?
        /// Whether the sources' own caching rules count, here and for clients.
        public var passesCacheControl = false
        public var sendsETag = true
        public var sendsLastModified = true
        /// Whether responses name their http source as canonical.
        public var sendsCanonical = false
        /// Origins whose pages may read the responses; `*` for all. None by default.
        public var allowOrigin: [String] = []
        /// Whether responses tell the sizes, and the times of the work.
        public var sendsDebugHeaders = false
        public var errorBodies = ErrorBodies.brief
    }

    /// The amount of detail in error responses.
    public enum ErrorBodies: String, Sendable, Hashable, CaseIterable {
        /// A fixed text for each kind of error.
        case brief
        /// The reason, too. Only on loopback addresses.
        case full
    }

    /// The caches of sources and results.
    public struct Cache: Sendable, Hashable {
        /// The folder; `nil` is `halcyon-server` in the user's cache folder.
        public var directory: String?
        /// The cache of sources; 2 GiB on the disk by default.
        public var sources = Tier(bytes: 2 << 30)
        /// The cache of results; 4 GiB on the disk by default.
        public var results = Tier(bytes: 4 << 30)
        /// The time for which a failure to load a source is remembered; 5 seconds by default.
        public var negativeTTL = Duration.seconds(5)
        /// The time after expiry that a source is used for while its server is asked; 1 minute by default.
        public var staleWhileRevalidate = Duration.seconds(60)
        /// The time after expiry that a source is used for when its server fails; 1 hour by default.
        public var staleIfError = Duration.seconds(3600)
    }

    /// The limits of one cache: disk, memory, age.
    public struct Tier: Sendable, Hashable {
        /// Bytes on the disk; 0 for none.
        public var bytes: Int
        /// Bytes in memory; 64 MiB by default, 0 for none.
        public var memoryBytes = 64 << 20
        /// The time that files are kept after their last use; 30 days by default.
        public var maxAge = Duration.seconds(30 * 86_400)

        public init(bytes: Int) { self.bytes = bytes }
    }

    /// The contents of `/info`.
    public struct Info: Sendable, Hashable {
        /// Whether all of EXIF is revealed: positions, serial numbers, owners, notes of the maker.
        public var includesPrivateMetadata = false
    }

    /// The IIIF Image API 3.0. URLs are not signed: sources and limits protect the server.
    public struct IIIF: Sendable, Hashable {
        public var isEnabled = false
        /// The segments before identifiers; `iiif/3` by default.
        public var prefix = "iiif/3"
        /// Folders; an identifier is the path of a file below one of them, with or without its extension.
        public var directories: [String] = []
        /// The allowed file extensions.
        public var extensions = ["jpg", "jpeg", "png", "webp", "tif", "tiff", "avif", "gif"]
        /// `expression=URL`: regular expressions for whole identifiers with their source URLs, in
        /// which `$1` is the first group of the expression.
        public var templates: [String] = []
        /// JSON files with objects that map identifiers to sources. They take precedence over
        /// templates and directories.
        public var tables: [String] = []
        /// The URI of a Creative Commons licence or rightsstatements.org statement for all pictures.
        public var rights: String?
        /// Links of all pictures: the wholes that they are part of, further descriptions
        /// (``seeAlso``) and other services (``service``). Each is a URI and, after a space, its
        /// type in the standard's words, such as `https://example.com/m Manifest`.
        public var partOf: [String] = []
        public var seeAlso: [String] = []
        public var service: [String] = []
        public var maxWidth: Int?
        public var maxHeight: Int?
        public var maxArea: Int?
        /// Whether `!w,h` with both sides beyond the region is an error, as the validator requires.
        public var isStrictlyConfined = true
    }

    /// The spans of requests; without a tracer there are none.
    public struct Tracing: Sendable, Hashable {
        /// Whether the trace context is sent to the servers of sources.
        public var propagatesContext = false
    }

    /// The log.
    public struct Log: Sendable, Hashable {
        /// The lowest level that is written; `info` by default.
        public var level = Level.info
        /// `nil` is text on a terminal and JSON elsewhere.
        public var format: Format?
        /// Whether cache hits are written like other requests; otherwise only at the level `debug`.
        public var showsHits = false

        /// The importance of a line; lines below the configured level are left out.
        public enum Level: String, Sendable, Hashable, CaseIterable {
            case trace, debug, info, notice, warning, error
        }

        /// The format of a line.
        public enum Format: String, Sendable, Hashable, CaseIterable {
            case text, json
        }
    }
}

extension ImageServerConfiguration {
    var isLoopbackOnly: Bool { bind.allSatisfy(\.isLoopback) }

    /// Whether the IIIF Image API has the local sources by their own names.
    var servesLocalSourcesByIIIF: Bool {
        sources.local.root != nil && iiif.directories.first == sources.local.root
    }

    package var showsPlayground: Bool { playground ?? (isLoopbackOnly && !signature.isRequired) }
}
