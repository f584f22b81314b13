import Foundation
import FoundationNetworking

/// What a `URLSessionConfiguration` says and is honoured.
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
    /// Takes over what `configuration` says.
    mutating func apply(_ configuration: URLSessionConfiguration) {
        let limits = SessionLimits(configuration)
        sessionConfiguration = configuration
        sessionLimits = limits
        client.connectionsPerHost = max(1, limits.connectionsPerHost)
    }

    /// `request` with the session's header fields.
    func completed(_ request: URLRequest) -> URLRequest {
        var request = request
        for (name, value) in sessionLimits?.headers ?? [:]
        where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// How long to wait for more of the answer to `request`.
    func stallTimeout(of request: URLRequest) -> Duration {
        let seconds = min(request.timeoutInterval, sessionLimits?.requestTimeout ?? .infinity)
        return .seconds(max(0, seconds))
    }

    /// How long a whole download may take; `nil` for no limit.
    var longestDownload: Duration? {
        let limits = [maximumDownloadDuration, sessionLimits?.resourceTimeout].compactMap { $0 }
        return limits.min().map { .seconds(max(0, $0)) }
    }
}
