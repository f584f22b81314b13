public import HalcyonHTTP
public import HalcyonPixels
import HalcyonWork

/// Everything that can be set of an image server. A plain value: programs that embed a server fill it in
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
    /// Where the pictures are served. `127.0.0.1:8080` by default.
    public var bind = [ListenAddress.tcp(host: "127.0.0.1", port: 8080)]
    /// The permissions of sockets of the file system that the server makes; `0660` by default: whoever may
    /// write to one may connect.
    public var bindMode = SocketMode(bits: 0o660)
    /// Where metrics and the state of the process are told; `nil` for nowhere. `127.0.0.1:9090` by
    /// default.
    public var operationsBind: ListenAddress? = .tcp(host: "127.0.0.1", port: 9090)
    /// A token that orders at `operationsBind` have to carry as `Authorization: Bearer`: purges and warming.
    /// Without one they are taken on loopback addresses only.
    public var operationsToken: String?
    /// Networks of proxies whose `Forwarded` and `X-Forwarded-…` are believed; none by default.
    public var trustedProxies: [IPNetwork] = []
    /// Segments that come before all public paths, such as `images`; none by default.
    public var pathPrefix = ""
    /// A token that every public request has to carry as `Authorization: Bearer`; none by default.
    public var secret: String?
    /// How the URLs of the server are signed.
    public var signature = Signature()
    /// Where pictures come from.
    public var sources = Sources()
    /// What is refused.
    public var limits = Limits()
    /// How much is done at a time, and for how long.
    public var work = Work()
    /// How the server ends.
    public var drain = Drain()
    /// What is done to pictures when the URL does not say it.
    public var processing = Processing()
    /// Which formats and sizes clients get when they state what they take.
    public var negotiation = Negotiation()
    /// What the header fields and error bodies of answers say.
    public var http = HTTP()
    /// The caches of sources and results.
    public var cache = Cache()
    /// What several servers share.
    public var shared = Shared()
    /// What is written to the log.
    public var log = Log()
    /// What `/info` may reveal.
    public var info = Info()
    /// The spans of requests.
    public var tracing = Tracing()
    /// The IIIF Image API 3.0.
    public var iiif = IIIF()
    /// The picture that is laid over results.
    public var watermark = Watermark()
    /// The picture that is sent in place of one that cannot be had.
    public var fallback = Fallback()
    /// Scheme, host and path before all public paths, for documents that speak of themselves, such as
    /// `https://img.example.com`; by default those of the request.
    public var publicURL: String?
    /// Whether there is a page for trying things out. Who can open it can have any allowed picture signed, so
    /// that by default it is there only where nothing has to be signed, which is on loopback addresses.
    public var playground: Bool?

    public init() {}
}

extension ImageServerConfiguration {
    /// How the URLs of the server are signed.
    public struct Signature: Sendable, Hashable {
        /// Hexadecimal. A URL may be signed with any of the pairs that keys and salts make; new URLs are
        /// signed with the first.
        public var keys: [String] = []
        /// Hexadecimal, as many as there are keys.
        public var salts: [String] = []
        /// A file with more of them, a key and its salt on each line. What begins with `#` is a comment.
        public var keysFile: String?
        /// Bytes of the digest that a signature has, 8…32.
        public var size = 32
        /// Texts that are taken in place of a signature.
        public var trusted: [String] = []
        /// Whether URLs have to be signed. May be off only where nobody but this machine can connect.
        public var isRequired = true
    }

    /// Where pictures come from.
    public struct Sources: Sendable, Hashable {
        public var http = HTTPSources()
        public var local = LocalSources()
        /// Put before a source that does not begin with it.
        public var baseURL: String?
        /// `regex=replacement`, applied to the source in this order before anything is checked.
        public var rewrites: [String] = []
        /// How long a source is used without asking its server again; 1 hour by default. Not used when
        /// the servers' own words count (`http.cacheControlPassthrough`).
        public var freshness = Duration.seconds(3600)
    }

    /// Pictures of other servers.
    public struct HTTPSources: Sendable, Hashable {
        public var isEnabled = true
        /// Patterns of what may be fetched, such as `https://*.example.com/pictures`; nothing by default.
        public var allow: [String] = []
        public var ports = [80, 443]
        /// Whether addresses of private networks may be connected to.
        public var allowsPrivate = false
        public var allowsLoopback = false
        public var allowsLinkLocal = false
        /// Networks that may be reached whatever they are for, unless they are denied.
        public var allowAddresses: [IPNetwork] = []
        public var denyAddresses: [IPNetwork] = []
        /// Names of header fields of clients' requests that are handed on to the server that is asked, and to
        /// none that it leads to. Sources that were fetched with other values of them are other ones. None by
        /// default.
        public var forwardHeaders: [String] = []
        /// The most redirects that are followed; each is checked like the first request. 3 by default.
        public var redirects = 3
        /// `Halcyon/` and the version by default.
        public var userAgent = "Halcyon/\(ImageServer.version)"
        /// How long to wait for a connection; 2 seconds by default.
        public var connectTimeout = Duration.seconds(2)
        /// The longest wait for the answer to begin, and then for each further 16 KiB of it; 5 seconds
        /// by default.
        public var stallTimeout = Duration.seconds(5)
        /// How long a fetch may take with all its redirects; 10 seconds by default.
        public var totalTimeout = Duration.seconds(10)
    }

    /// Pictures in a folder of this machine.
    public struct LocalSources: Sendable, Hashable {
        /// The folder that `local:` paths are below; `nil`, the default, for none.
        public var root: String?
        /// Whether symbolic links are followed as long as they stay below the root.
        public var followsSymlinks = false
    }

    /// What is refused.
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

    /// How much is done at a time, and for how long.
    public struct Work: Sendable, Hashable {
        /// Fetches under way; 8 for each core by default.
        public var downloads = 8 * Processors.count
        public var downloadsPerHost = 16
        /// Pictures that are decoded, processed and encoded at a time; the number of cores by default,
        /// and never more than that.
        public var decoders = Processors.count
        /// Pictures that are made at a time with encoders that take threads of their own: those of AVIF and
        /// HEIC; the number of cores by default, and fewer to leave room for other formats.
        public var avifEncoders = Processors.count
        /// Bytes that all decoding under way may take together, in the whole process; `nil`, the default, is a
        /// quarter of the memory that the process may use. Pictures wait for each other for it, and one that
        /// needs more is refused.
        public var memory: Int?
        /// Requests that may wait for each of these; beyond it, the answer is 429. 8 for each core by
        /// default.
        public var queue = 8 * Processors.count
        /// From the head of a request to the first byte of its answer; 15 seconds by default.
        public var requestTimeout = Duration.seconds(15)
        /// From the first byte of a request to the end of its head; 5 seconds by default.
        public var headTimeout = Duration.seconds(5)
        /// The longest time in which a client takes no byte of an answer; 10 seconds by default.
        public var writeTimeout = Duration.seconds(10)
        /// How long a connection may be idle; 15 seconds by default.
        public var idleTimeout = Duration.seconds(15)
        /// Connections of clients at a time, of each address the server listens on. Connections are accepted
        /// in groups of up to four: there may be three more for a while.
        public var maxConnections = 2048
    }

    /// How the server ends.
    public struct Drain: Sendable, Hashable {
        /// How long requests are still accepted after the server has said that it is not ready any more.
        public var delay = Duration.zero
        /// How long requests under way may take to end; 20 seconds by default.
        public var timeout = Duration.seconds(20)
        /// How long connections without a request stay open after no more are taken, since one may be on its way; a
        /// second by default, and never more than half of ``timeout``.
        public var idleTimeout = Duration.seconds(1)
    }

    /// What is done to pictures when the URL does not say it.
    public struct Processing: Sendable, Hashable {
        /// `name=option/option/…`.
        public var presets: [String] = []
        /// Whether URLs have nothing but names of presets.
        public var onlyPresets = false
        /// The options that URLs may have, by their long or short names; `nil` for all.
        public var allowedOptions: [String]?
        /// Whether URLs may raise the limits.
        public var allowsSecurityOptions = false
        /// 1…100.
        public var quality = 80
        /// By format: 1…100.
        public var formatQuality = ["webp": 79, "avif": 63, "jxl": 77]
        /// What a picture without a format in its URL may become, the first being what others become.
        public var preferredFormats = ["jpeg", "png", "gif"]
        public var stripsMetadata = true
        /// Whether author and copyright notice stay when metadata is stripped.
        public var keepsCopyright = true
        /// Whether results are in sRGB and without a colour profile, or keep that of their source.
        public var stripsColorProfile = true
        /// Whether pictures are turned as EXIF says.
        public var autoRotates = true
        /// Whether URLs may ask for sources as they are.
        public var allowsRaw = false
        /// Whether JPEG is written from coarse to fine.
        public var writesProgressiveJPEG = false
        /// How much time is taken for smaller files, in the codec's own numbers by format: `webp` 0…6, `avif`
        /// and `heic` 0…9, `jxl` 1…9, `gif` 1…10.
        public var effort = ["webp": 2, "avif": 1, "jxl": 3, "gif": 3]
        /// What becomes of SVG drawings.
        public var svg = SVG.rasterize
        /// What becomes of JPEG files of which the end is missing.
        public var truncated = Truncated.refuse
        /// Which sources are decoded in processes of their own, in programs that can start some
        /// (``DecodingWorker/runIfAsked()``).
        public var isolation = DecodingIsolation.foreign
    }

    /// What becomes of SVG drawings.
    public enum SVG: String, Sendable, Hashable, CaseIterable {
        /// They are drawn at the size that is wanted.
        case rasterize
        /// Where no other format is asked for, the drawing itself is sent, without all that could run or load
        /// something: scripts, events, animated links, other documents, entities.
        case sanitize
        /// They are no sources.
        case refuse
    }

    /// What becomes of JPEG files of which the end is missing.
    public enum Truncated: String, Sendable, Hashable, CaseIterable {
        case refuse
        /// What is there is shown, and what is missing is grey; answers have `X-Truncated: 1`.
        case accept
    }

    /// Which formats and sizes clients get when they state what they take.
    public struct Negotiation: Sendable, Hashable {
        /// Of `avif`, `webp` and `jxl`, those that are sent to clients that name them; the first ones
        /// rather. None by default.
        public var formats: [String] = []
        /// Whether the client's hints about its width and resolution count.
        public var usesClientHints = false
        /// Hints are rounded up to one of these.
        public var widthSteps = [320, 480, 640, 768, 960, 1280, 1536, 1920, 2560, 3840]
        public var dprSteps = [1, 1.5, 2, 3]
    }

    /// What the header fields and error bodies of answers say.
    public struct HTTP: Sendable, Hashable {
        /// How long caches may keep an answer; a year by default. Zero has them ask each time. `nil` is a
        /// year, and, as long as URLs need no signature, no time at all.
        public var ttl: Duration?
        /// The longest that a source's own words are repeated for; a year by default.
        public var maxTTL = Duration.seconds(31_536_000)
        /// How long caches may keep an answer that is an error of the URL's; not at all by default.
        public var errorTTL = Duration.zero
        /// How long after that caches may go on with a picture while they ask for a new one; they are not told
        /// of it by default.
        public var staleWhileRevalidate: Duration?
        /// Whether the sources' own words about caching count, here and for clients.
        public var passesCacheControl = false
        public var sendsETag = true
        public var sendsLastModified = true
        /// Whether answers name their http source as canonical.
        public var sendsCanonical = false
        /// Origins whose pages may read the answers; `*` for all. None by default.
        public var allowOrigin: [String] = []
        /// Whether answers tell sizes and times of the work.
        public var sendsDebugHeaders = false
        public var errorBodies = ErrorBodies.brief
    }

    /// How much answers say about what went wrong.
    public enum ErrorBodies: String, Sendable, Hashable, CaseIterable {
        /// One text for each kind of error.
        case brief
        /// The reason too. Only where nobody but this machine can connect.
        case full
    }

    /// The caches of sources and results.
    public struct Cache: Sendable, Hashable {
        /// The folder; `nil` is `halcyon-server` in the user's folder of caches.
        public var directory: String?
        /// The cache of sources; 2 GiB on the disk by default.
        public var sources = Tier(bytes: 2 << 30)
        /// The cache of results; 4 GiB on the disk by default.
        public var results = Tier(bytes: 4 << 30)
        /// How long it is remembered that a source could not be had; 5 seconds by default.
        public var negativeTTL = Duration.seconds(5)
        /// How long after its time a source is used while its server is asked; 1 minute by default.
        public var staleWhileRevalidate = Duration.seconds(60)
        /// How long after its time a source is used when its server fails; 1 hour by default.
        public var staleIfError = Duration.seconds(3600)
    }

    /// The limits of one cache: disk, memory, age.
    public struct Tier: Sendable, Hashable {
        /// Bytes on the disk; 0 for none.
        public var bytes: Int
        /// Bytes in memory; 64 MiB by default, 0 for none.
        public var memoryBytes = 64 << 20
        /// How long files are kept after they were last used; 30 days by default.
        public var maxAge = Duration.seconds(30 * 86_400)

        public init(bytes: Int) { self.bytes = bytes }
    }

    /// What `/info` may reveal.
    public struct Info: Sendable, Hashable {
        /// Whether all of EXIF is revealed: positions, serial numbers, owners, notes of the maker.
        public var includesPrivateMetadata = false
    }

    /// The IIIF Image API 3.0. Its URLs are not signed: what protects the server are its sources and limits.
    public struct IIIF: Sendable, Hashable {
        public var isEnabled = false
        /// The segments before identifiers; `iiif/3` by default.
        public var prefix = "iiif/3"
        /// Folders; an identifier is the path of a file below one of them, with or without its extension.
        public var directories: [String] = []
        /// The extensions that files may have.
        public var extensions = ["jpg", "jpeg", "png", "webp", "tif", "tiff", "avif", "gif"]
        /// `expression=URL`: whole identifiers and the sources that they lead to, in which `$1` is the
        /// first group of the expression.
        public var templates: [String] = []
        /// JSON files with objects whose keys are identifiers, and whose values are their sources. They go before
        /// templates and directories.
        public var tables: [String] = []
        /// The URI of a licence of Creative Commons or of a statement of rightsstatements.org that all pictures
        /// are under.
        public var rights: String?
        /// Of what the pictures are parts, where more is said of them, and what else there is for them: each a URI
        /// and, behind a space, its type in the words of the standard, such as `https://example.com/m Manifest`.
        public var partOf: [String] = []
        public var seeAlso: [String] = []
        public var service: [String] = []
        public var maxWidth: Int?
        public var maxHeight: Int?
        public var maxArea: Int?
        /// Whether `!w,h` with both sides beyond the region is an error, as the official validator wants
        /// it.
        public var isStrictlyConfined = true
    }

    /// The spans of requests, of which there are none without a tracer.
    public struct Tracing: Sendable, Hashable {
        /// Whether the servers of sources are told which trace a request belongs to.
        public var propagatesContext = false
    }

    /// What is written to the log.
    public struct Log: Sendable, Hashable {
        /// The least important lines that are written; `info` by default.
        public var level = Level.info
        /// `nil` is text on a terminal and JSON elsewhere.
        public var format: Format?
        /// Whether requests that were answered from a cache are written like others; otherwise only at
        /// the level `debug`.
        public var showsHits = false

        /// How important a line is; less important ones than the level are left out.
        public enum Level: String, Sendable, Hashable, CaseIterable {
            case trace, debug, info, notice, warning, error
        }

        /// How a line is written.
        public enum Format: String, Sendable, Hashable, CaseIterable {
            case text, json
        }
    }
}

extension ImageServerConfiguration {
    /// Whether only programs of this machine can connect.
    var isLoopbackOnly: Bool { bind.allSatisfy(\.isLoopback) }

    /// Whether there is the page.
    package var showsPlayground: Bool { playground ?? (isLoopbackOnly && !signature.isRequired) }
}
