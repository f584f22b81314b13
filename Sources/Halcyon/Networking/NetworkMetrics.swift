public import Foundation

/// What was measured of a download. Durations are in seconds.
///
/// Present only for a download that the server answered with a status of 200…299, or with 304 when it was asked
/// whether a cached image is still good.
public struct NetworkMetrics: Sendable {
    /// From when the request was sent until the last byte of the answer; after redirects, of the
    /// last request.
    public let retrieveImageDuration: TimeInterval?
    /// From the start of the download until the last byte, with redirects and waiting for a
    /// connection.
    public let totalRequestDuration: TimeInterval
    /// How long the look-up of the host's name took; after redirects, for the last request. `nil` when
    /// the request went over a connection that had been there before, or nothing was measured.
    public let domainLookupDuration: TimeInterval?
    /// How long connecting took once the address was known: TCP and TLS together; after redirects,
    /// for the last request. `nil` when the request went over a connection that had been there
    /// before, or nothing was measured.
    public let connectDuration: TimeInterval?
    /// The part of `connectDuration` that TLS took; also `nil` without TLS.
    public let secureConnectionDuration: TimeInterval?
    /// From when the request was sent until the header of the answer had arrived; after redirects,
    /// of the last request.
    public let firstByteDuration: TimeInterval?
    /// Whether the request went over a connection that had been there before; after redirects,
    /// the last request. `nil` when that is not known.
    public let isConnectionReused: Bool?
    /// Bytes of the request's body.
    public let requestBodyBytesSent: Int64
    /// Bytes of the answer's body, after content decoding.
    public let responseBodyBytesReceived: Int64
    /// Bytes that an earlier download of the same had left, so that they were not received again; see
    /// ``DownloadResumption``.
    public let resumedByteCount: Int64
    /// The status code of the answer.
    public let httpStatusCode: Int?
    /// Redirects that were followed.
    public let redirectCount: Int

    /// Bytes per second, from `responseBodyBytesReceived` and `retrieveImageDuration`; `nil` when
    /// either is unknown or zero.
    public var downloadSpeed: Double? {
        guard let duration = retrieveImageDuration, duration > 0, responseBodyBytesReceived > 0
        else { return nil }
        return Double(responseBodyBytesReceived) / duration
    }

    /// `downloadSpeed` in mebibytes (1,048,576 bytes) per second.
    public var downloadSpeedMBps: Double? {
        downloadSpeed.map { $0 / 1_048_576 }
    }
}

extension NetworkMetrics {
    /// - Parameters:
    ///   - start: When the download began.
    ///   - times: Of the last request.
    init(
        start: ContinuousClock.Instant, end: ContinuousClock.Instant, times: ExchangeTimes?,
        sentByteCount: Int, receivedByteCount: Int, resumedByteCount: Int = 0, statusCode: Int,
        redirectCount: Int
    ) {
        func seconds(_ from: ContinuousClock.Instant?, _ to: ContinuousClock.Instant?)
            -> TimeInterval?
        {
            guard let from, let to else { return nil }
            return (to - from) / .seconds(1)
        }
        retrieveImageDuration = seconds(times?.sent, end)
        totalRequestDuration = (end - start) / .seconds(1)
        let connecting = times?.connecting
        domainLookupDuration = connecting.map { $0.nameLookup / .seconds(1) }
        connectDuration = connecting.map { ($0.tcp + ($0.tls ?? .zero)) / .seconds(1) }
        secureConnectionDuration = connecting?.tls.map { $0 / .seconds(1) }
        firstByteDuration = seconds(times?.sent, times?.answered)
        isConnectionReused = times?.isConnectionReused
        requestBodyBytesSent = Int64(sentByteCount)
        responseBodyBytesReceived = Int64(receivedByteCount)
        self.resumedByteCount = Int64(resumedByteCount)
        httpStatusCode = statusCode
        self.redirectCount = redirectCount
    }
}
