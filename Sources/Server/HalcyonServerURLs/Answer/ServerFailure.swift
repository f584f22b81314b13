/// The reason why a request has no picture, and its response: one table for statuses, codes and
/// caching lifetimes.
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
    public var status: Int {
        switch self {
        case .badRequest, .iiifRegion, .iiifSize, .iiifRotation, .iiifQuality, .iiifFormat: 400
        case .optionForbidden, .forbidden: 403
        case .invalidPath, .invalidOption, .unsupportedOption, .expired, .notFound,
            .sourceNotAllowed, .unknownScheme, .sourceUnreachable, .sourceNotFound:
            404
        case .methodNotAllowed: 405
        case .urlTooLong: 414
        case .expectationFailed: 417
        case .formatUnsupported, .sourceIncomplete, .sourceTooLarge, .sourceFormat,
            .sourceTooComplex, .sourceDamaged:
            422
        case .busy: 429
        case .headersTooLarge: 431
        case .clientGone: 499
        case .internalError: 500
        case .methodUnknown: 501
        case .sourceStatus(let status): (400...499).contains(status) ? status : 502
        case .sourceBusy, .deadline, .draining, .memoryShort: 503
        case .sourceTimeout: 504
        }
    }

    /// The machine-readable error code.
    public var code: String {
        switch self {
        case .badRequest: "bad_request"
        case .invalidPath: "invalid_path"
        case .invalidOption: "invalid_option"
        case .unsupportedOption: "unsupported_option"
        case .optionForbidden: "option_forbidden"
        case .forbidden: "forbidden"
        case .expired: "expired"
        case .iiifRegion: "iiif_region"
        case .iiifSize: "iiif_size"
        case .iiifRotation: "iiif_rotation"
        case .iiifQuality: "iiif_quality"
        case .iiifFormat: "iiif_format"
        case .notFound: "not_found"
        case .formatUnsupported: "format_unsupported"
        case .sourceNotAllowed: "source_not_allowed"
        case .unknownScheme: "unknown_scheme"
        case .sourceUnreachable: "source_unreachable"
        case .sourceNotFound: "source_not_found"
        case .sourceStatus: "source_status"
        case .sourceBusy: "source_busy"
        case .sourceTimeout: "source_timeout"
        case .sourceIncomplete: "source_incomplete"
        case .sourceTooLarge: "source_too_large"
        case .sourceFormat: "source_format"
        case .sourceTooComplex: "source_too_complex"
        case .sourceDamaged: "source_damaged"
        case .urlTooLong, .headersTooLarge: "too_long"
        case .methodNotAllowed: "method_not_allowed"
        case .methodUnknown: "method_unknown"
        case .expectationFailed: "expectation_failed"
        case .busy: "busy"
        case .memoryShort: "memory"
        case .deadline: "deadline"
        case .draining: "draining"
        case .clientGone: "client_gone"
        case .internalError: "internal"
        }
    }

    /// The text of the body without details.
    public var summary: String {
        switch self {
        case .badRequest, .expectationFailed: "Bad request"
        case .invalidPath, .invalidOption, .unsupportedOption, .expired: "Invalid URL"
        case .optionForbidden, .forbidden: "Forbidden"
        case .iiifRegion, .iiifSize, .iiifRotation, .iiifQuality, .iiifFormat:
            "Invalid image request"
        case .notFound: "Not found"
        case .formatUnsupported: "Unsupported format"
        case .sourceNotAllowed, .unknownScheme, .sourceUnreachable, .sourceNotFound,
            .sourceStatus, .sourceBusy:
            "Source image is not available"
        case .sourceIncomplete, .sourceTooLarge, .sourceFormat, .sourceTooComplex,
            .sourceDamaged:
            "Invalid source image"
        case .urlTooLong: "URL is too long"
        case .headersTooLarge: "Headers are too large"
        case .methodNotAllowed: "Method not allowed"
        case .methodUnknown: "Method not implemented"
        case .busy: "Too many requests"
        case .memoryShort: "Out of memory"
        case .sourceTimeout, .deadline: "Timeout"
        case .draining: "Server is shutting down"
        case .clientGone: "Client closed the connection"
        case .internalError: "Internal error"
        }
    }

    public var caching: Caching {
        switch self {
        case .invalidPath, .invalidOption, .unsupportedOption, .optionForbidden, .iiifRegion,
            .iiifSize, .iiifRotation, .iiifQuality, .iiifFormat,
            .formatUnsupported:
            .errorTTL
        case .notFound, .sourceNotAllowed, .unknownScheme, .sourceUnreachable,
            .sourceNotFound, .sourceStatus, .sourceTooLarge, .sourceFormat, .sourceTooComplex,
            .sourceDamaged:
            .negativeTTL
        default: .never
        }
    }

    /// Whether the fallback image may be sent instead.
    public var allowsFallback: Bool {
        switch self {
        case .sourceUnreachable, .sourceNotFound, .sourceStatus, .sourceBusy, .sourceTimeout,
            .sourceIncomplete, .sourceTooLarge, .sourceFormat, .sourceTooComplex,
            .sourceDamaged:
            true
        default: false
        }
    }

    public var logLevel: LogLevel {
        switch self {
        case .badRequest, .expired, .urlTooLong, .headersTooLarge, .methodNotAllowed,
            .methodUnknown, .expectationFailed, .draining, .clientGone:
            .debug
        case .sourceNotAllowed, .unknownScheme, .sourceUnreachable, .sourceBusy, .sourceTimeout,
            .sourceIncomplete, .sourceTooLarge, .sourceTooComplex, .busy, .deadline, .memoryShort:
            .warning
        case .sourceStatus(let status): status >= 500 ? .warning : .info
        case .internalError: .error
        default: .info
        }
    }

    /// Whether the response has a `Retry-After`.
    public var asksToRetry: Bool {
        switch self {
        case .busy, .deadline, .draining, .sourceBusy, .memoryShort: true
        default: false
        }
    }
}

/// The rule by which a source is refused before it is requested, in words for metrics.
package enum SourceRefusal: String, Sendable, Hashable {
    case scheme, port
    /// The source is not on the allow list.
    case allowList = "allow_list"
    /// The text is not a URL that all programs read alike.
    case url
}

/// A failure with the specific error in this request.
public struct PlanError: Error, Sendable, Hashable {
    public var failure: ServerFailure
    /// One sentence for authorized readers: it names the faulty part of the URL and the expected
    /// value.
    public var reason: String
    /// The rule that refused the source.
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
