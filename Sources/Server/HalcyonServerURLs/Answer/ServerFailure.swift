/// Why a request has no picture, and what its answer is: one table for statuses, codes and how long
/// the answer may be kept.
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
    /// No method that is there at all.
    case methodUnknown
    case expectationFailed
    case busy
    /// The process has no memory left for this at the moment.
    case memoryShort
    case deadline
    case draining
    /// Only in the log: nobody reads the answer.
    case clientGone
    case internalError
}

extension ServerFailure {
    /// How long the answer may be kept, by caches and by the server.
    public enum Caching: Sendable, Hashable {
        case never
        /// As long as `http.errorTTL` says.
        case errorTTL
        /// As long as `cache.negativeTTL` says; the server itself answers the same meanwhile.
        case negativeTTL
    }

    public enum LogLevel: String, Sendable, Hashable {
        case debug, info, warning, error
    }

    /// The status of HTTP.
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

    /// What programs tell failures apart by.
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

    /// What the body says when details are not to be told.
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

    /// Whether the fallback image may stand in.
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

    /// Whether the answer says when to try again, with `Retry-After`.
    public var asksToRetry: Bool {
        switch self {
        case .busy, .deadline, .draining, .sourceBusy, .memoryShort: true
        default: false
        }
    }
}

/// By what a source is refused before anybody is asked for it, in words for metrics.
package enum SourceRefusal: String, Sendable, Hashable {
    case scheme, port
    /// It is not on the list of what may be fetched.
    case allowList = "allow_list"
    /// What is written is not a URL that all programs read alike.
    case url
}

/// A failure with what is wrong about this request in particular.
public struct PlanError: Error, Sendable, Hashable {
    public var failure: ServerFailure
    /// One sentence for those who may know: it names the part of the URL at fault, and what was
    /// expected there.
    public var reason: String
    /// By what a source is refused.
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
