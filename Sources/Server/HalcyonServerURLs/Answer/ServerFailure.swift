/// The reason why a request has no picture: one table for statuses, codes and caching lifetimes.
public enum ServerFailure: Sendable, Hashable {
    case badRequest
    case invalidPath
    case invalidOption
    case unsupportedOption
    case optionForbidden
    case forbidden
    case expired
    case iiifRegion
    case iiifSize
    case iiifRotation
    case iiifQuality
    case iiifFormat
    case notFound
    case formatUnsupported
    case sourceNotAllowed
    case unknownScheme
    case sourceUnreachable
    case sourceNotFound
    /// The origin's status, 400 or above.
    case sourceStatus(Int)
    case sourceBusy
    case sourceTimeout
    case sourceIncomplete
    case sourceTooLarge
    case sourceFormat
    case sourceTooComplex
    case sourceDamaged
    case urlTooLong
    case headersTooLarge
    case methodNotAllowed
    /// The method does not exist at all.
    case methodUnknown
    case expectationFailed
    case busy
    /// The process is short of memory at the moment.
    case memoryShort
    case deadline
    case draining
    /// The client disconnected: only for the log, as there is no reader of the response.
    case clientGone
    case internalError

    /// All failures, those with a status by one of it.
    package static let all: [ServerFailure] = [
        .badRequest, .invalidPath, .invalidOption, .unsupportedOption, .optionForbidden, .forbidden,
        .expired, .iiifRegion, .iiifSize, .iiifRotation, .iiifQuality, .iiifFormat, .notFound,
        .formatUnsupported, .sourceNotAllowed, .unknownScheme, .sourceUnreachable, .sourceNotFound,
        .sourceStatus(404), .sourceBusy, .sourceTimeout, .sourceIncomplete, .sourceTooLarge,
        .sourceFormat, .sourceTooComplex, .sourceDamaged, .urlTooLong, .headersTooLarge,
        .methodNotAllowed, .methodUnknown, .expectationFailed, .busy, .memoryShort, .deadline,
        .draining, .clientGone, .internalError,
    ]
}

extension ServerFailure {
    /// The caching lifetime of the response, in caches and in the server.
    public enum Caching: Sendable, Hashable {
        case never
        /// For `http.errorTTL`.
        case errorTTL
        /// For `cache.negativeTTL`; the server itself gives the same response meanwhile.
        case negativeTTL
    }

    public enum LogLevel: String, Sendable, Hashable {
        case debug, info, warning, error
    }

    /// The HTTP status.
    public var status: Int { traits.status }
    /// The machine-readable error code.
    public var code: String { traits.code }
    /// The text of the body without details.
    public var summary: String { traits.summary }
    public var caching: Caching { traits.caching }
    /// Whether the fallback image may be sent instead.
    public var allowsFallback: Bool { traits.allowsFallback }
    public var logLevel: LogLevel { traits.logLevel }
    /// Whether the response has a `Retry-After`.
    public var asksToRetry: Bool { traits.asksToRetry }

    private var traits: Traits {
        switch self {
        case .badRequest: Traits(400, "bad_request", "Bad request", log: .debug)
        case .invalidPath: Traits(404, "invalid_path", "Invalid URL", .errorTTL)
        case .invalidOption: Traits(404, "invalid_option", "Invalid URL", .errorTTL)
        case .unsupportedOption: Traits(404, "unsupported_option", "Invalid URL", .errorTTL)
        case .optionForbidden: Traits(403, "option_forbidden", "Forbidden", .errorTTL)
        case .forbidden: Traits(403, "forbidden", "Forbidden")
        case .expired: Traits(404, "expired", "Invalid URL", log: .debug)
        case .iiifRegion: Traits(400, "iiif_region", "Invalid image request", .errorTTL)
        case .iiifSize: Traits(400, "iiif_size", "Invalid image request", .errorTTL)
        case .iiifRotation: Traits(400, "iiif_rotation", "Invalid image request", .errorTTL)
        case .iiifQuality: Traits(400, "iiif_quality", "Invalid image request", .errorTTL)
        case .iiifFormat: Traits(400, "iiif_format", "Invalid image request", .errorTTL)
        case .notFound: Traits(404, "not_found", "Not found", .negativeTTL)
        case .formatUnsupported: Traits(422, "format_unsupported", "Unsupported format", .errorTTL)
        case .sourceNotAllowed: .unavailable(404, "source_not_allowed", fallback: false)
        case .unknownScheme: .unavailable(404, "unknown_scheme", fallback: false)
        case .sourceUnreachable: .unavailable(404, "source_unreachable")
        case .sourceNotFound: .unavailable(404, "source_not_found", log: .info)
        case .sourceStatus(let status):
            .unavailable(
                (400...499).contains(status) ? status : 502, "source_status",
                log: status >= 500 ? .warning : .info)
        case .sourceBusy: .unavailable(503, "source_busy", .never, retry: true)
        case .sourceTimeout:
            Traits(504, "source_timeout", "Timeout", log: .warning, fallback: true)
        case .sourceIncomplete: .invalidSource("source_incomplete", .never)
        case .sourceTooLarge: .invalidSource("source_too_large")
        case .sourceFormat: .invalidSource("source_format", log: .info)
        case .sourceTooComplex: .invalidSource("source_too_complex")
        case .sourceDamaged: .invalidSource("source_damaged", log: .info)
        case .urlTooLong: Traits(414, "too_long", "URL is too long", log: .debug)
        case .headersTooLarge: Traits(431, "too_long", "Headers are too large", log: .debug)
        case .methodNotAllowed: Traits(405, "method_not_allowed", "Method not allowed", log: .debug)
        case .methodUnknown: Traits(501, "method_unknown", "Method not implemented", log: .debug)
        case .expectationFailed: Traits(417, "expectation_failed", "Bad request", log: .debug)
        case .busy: Traits(429, "busy", "Too many requests", log: .warning, retry: true)
        case .memoryShort: Traits(503, "memory", "Out of memory", log: .warning, retry: true)
        case .deadline: Traits(503, "deadline", "Timeout", log: .warning, retry: true)
        case .draining:
            Traits(503, "draining", "Server is shutting down", log: .debug, retry: true)
        case .clientGone: Traits(499, "client_gone", "Client closed the connection", log: .debug)
        case .internalError: Traits(500, "internal", "Internal error", log: .error)
        }
    }

    private struct Traits {
        let status: Int
        let code: String
        let summary: String
        let caching: Caching
        let logLevel: LogLevel
        let allowsFallback: Bool
        let asksToRetry: Bool

        init(
            _ status: Int, _ code: String, _ summary: String, _ caching: Caching = .never,
            log: LogLevel = .info, fallback: Bool = false, retry: Bool = false
        ) {
            self.status = status
            self.code = code
            self.summary = summary
            self.caching = caching
            logLevel = log
            allowsFallback = fallback
            asksToRetry = retry
        }

        static func unavailable(
            _ status: Int, _ code: String, _ caching: Caching = .negativeTTL,
            log: LogLevel = .warning, fallback: Bool = true, retry: Bool = false
        ) -> Traits {
            Traits(
                status, code, "Source image is not available", caching, log: log,
                fallback: fallback, retry: retry)
        }

        static func invalidSource(
            _ code: String, _ caching: Caching = .negativeTTL, log: LogLevel = .warning
        ) -> Traits {
            Traits(422, code, "Invalid source image", caching, log: log, fallback: true)
        }
    }
}

/// The rule by which a source is refused before it is requested, in words for metrics.
package enum SourceRefusal: String, Sendable, Hashable {
    case scheme, port
    case allowList = "allow_list"
    /// The text is not a URL that all programs read alike.
    case url
}

/// A failure with the specific error in this request.
public struct PlanError: Error, Sendable, Hashable {
    public var failure: ServerFailure
    /// One sentence for authorized readers, with the faulty part of the URL and what it should be.
    public var reason: String
    package var refusal: SourceRefusal?

    public init(_ failure: ServerFailure, _ reason: String) {
        self.failure = failure
        self.reason = reason
    }

    package init(_ failure: ServerFailure, _ reason: String, _ refusal: SourceRefusal) {
        self.init(failure, reason)
        self.refusal = refusal
    }

    public var status: Int { failure.status }
    public var code: String { failure.code }
}

extension PlanError: CustomStringConvertible {
    public var description: String { "\(code): \(reason)" }
}
