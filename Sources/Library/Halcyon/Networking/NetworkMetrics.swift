public import Foundation

/// What was measured of a download. Durations are in seconds.
///
/// Present only for a download that the server answered with a status of 200…299, or with 304 when it was asked
/// whether a cached image is still good.
public struct NetworkMetrics: Sendable {
    /// From when the request was sent until the last byte of the answer; after redirects, of the
    /// last request.
    public var retrieveImageDuration: TimeInterval? {
        measured.seconds(measured.times?.sent, measured.end)
    }
    /// From the start of the download until the last byte, with redirects and waiting for a
    /// connection.
    public var totalRequestDuration: TimeInterval {
        (measured.end - measured.start) / .seconds(1)
    }
    /// How long the look-up of the host's name took; after redirects, for the last request. `nil` when
    /// the request went over a connection that had been there before, or nothing was measured.
    public var domainLookupDuration: TimeInterval? {
        connecting.map { $0.nameLookup / .seconds(1) }
    }
    /// How long connecting took once the address was known: TCP and TLS together; after redirects,
    /// for the last request. `nil` when the request went over a connection that had been there
    /// before, or nothing was measured.
    public var connectDuration: TimeInterval? {
        connecting.map { ($0.tcp + ($0.tls ?? .zero)) / .seconds(1) }
    }
    /// The part of `connectDuration` that TLS took; also `nil` without TLS.
    public var secureConnectionDuration: TimeInterval? {
        connecting?.tls.map { $0 / .seconds(1) }
    }
    /// From when the request was sent until the header of the answer had arrived; after redirects,
    /// of the last request.
    public var firstByteDuration: TimeInterval? {
        measured.seconds(measured.times?.sent, measured.times?.answered)
    }
    /// Whether the request went over a connection that had been there before; after redirects,
    /// the last request. `nil` when that is not known.
    public var isConnectionReused: Bool? { measured.times?.isConnectionReused }
    /// Bytes of the request's body.
    public var requestBodyBytesSent: Int64 { Int64(measured.sentByteCount) }
    /// Bytes of the answer's body, after content decoding.
    public var responseBodyBytesReceived: Int64 { Int64(measured.receivedByteCount) }
    /// Bytes that an earlier download of the same had left, so that they were not received again; see
    /// ``DownloadResumption``.
    public var resumedByteCount: Int64 { Int64(measured.resumedByteCount) }
    /// The status code of the answer.
    public var httpStatusCode: Int? { measured.statusCode }
    /// Redirects that were followed.
    public var redirectCount: Int { measured.redirectCount }

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

    private var connecting: ExchangeTimes.Connecting? { measured.times?.connecting }

    /// What was measured, behind one reference: every result of a request carries it.
    private let measured: Measured

    private final class Measured: Sendable {
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let times: ExchangeTimes?
        let sentByteCount: Int
        let receivedByteCount: Int
        let resumedByteCount: Int
        let statusCode: Int
        let redirectCount: Int

        init(
            start: ContinuousClock.Instant, end: ContinuousClock.Instant, times: ExchangeTimes?,
            sentByteCount: Int, receivedByteCount: Int, resumedByteCount: Int, statusCode: Int,
            redirectCount: Int
        ) {
            self.start = start
            self.end = end
            self.times = times
            self.sentByteCount = sentByteCount
            self.receivedByteCount = receivedByteCount
            self.resumedByteCount = resumedByteCount
            self.statusCode = statusCode
            self.redirectCount = redirectCount
        }

        func seconds(
            _ from: ContinuousClock.Instant?, _ to: ContinuousClock.Instant?
        ) -> TimeInterval? {
            guard let from, let to else { return nil }
            return (to - from) / .seconds(1)
        }
    }

    /// - Parameters:
    ///   - start: When the download began.
    ///   - times: Of the last request.
    init(
        start: ContinuousClock.Instant, end: ContinuousClock.Instant, times: ExchangeTimes?,
        sentByteCount: Int, receivedByteCount: Int, resumedByteCount: Int = 0, statusCode: Int,
        redirectCount: Int
    ) {
        measured = Measured(
            start: start, end: end, times: times, sentByteCount: sentByteCount,
            receivedByteCount: receivedByteCount, resumedByteCount: resumedByteCount,
            statusCode: statusCode, redirectCount: redirectCount)
    }
}
