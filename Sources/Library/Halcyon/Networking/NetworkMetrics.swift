public import Foundation

/// The measurements of a download. Durations are in seconds.
///
/// Present only for a response with status 200…299, or 304 for the revalidation of a cached image.
public struct NetworkMetrics: Sendable {
    /// The time from sending the request to the last byte of the response; after redirects, for the
    /// last request.
    public var retrieveImageDuration: TimeInterval? {
        measured.seconds(measured.times?.sent, measured.end)
    }
    /// The time from the start of the download to the last byte, with redirects and waiting for a
    /// connection.
    public var totalRequestDuration: TimeInterval {
        (measured.end - measured.start) / .seconds(1)
    }
    /// The duration of the host name lookup; after redirects, for the last request. `nil` for a
    /// reused connection or without a measurement.
    public var domainLookupDuration: TimeInterval? {
        connecting.map { $0.nameLookup / .seconds(1) }
    }
    /// The duration of connecting after the lookup, TCP and TLS together; after redirects, for the
    /// last request. `nil` for a reused connection or without a measurement.
    public var connectDuration: TimeInterval? {
        connecting.map { ($0.tcp + ($0.tls ?? .zero)) / .seconds(1) }
    }
    /// The TLS part of `connectDuration`; also `nil` without TLS.
    public var secureConnectionDuration: TimeInterval? {
        connecting?.tls.map { $0 / .seconds(1) }
    }
    /// The time from sending the request to the arrival of the response header; after redirects,
    /// for the last request.
    public var firstByteDuration: TimeInterval? {
        measured.seconds(measured.times?.sent, measured.times?.answered)
    }
    /// Whether the request used an existing connection; after redirects, the last request. `nil` if
    /// unknown.
    public var isConnectionReused: Bool? { measured.times?.isConnectionReused }
    /// The size of the request's body, in bytes.
    public var requestBodyBytesSent: Int64 { Int64(measured.sentByteCount) }
    /// The size of the response's body after content decoding, in bytes.
    public var responseBodyBytesReceived: Int64 { Int64(measured.receivedByteCount) }
    /// The number of bytes left by an earlier download of the same, so that they were not received
    /// again; see ``DownloadResumption``.
    public var resumedByteCount: Int64 { Int64(measured.resumedByteCount) }
    /// The status code of the response.
    public var httpStatusCode: Int? { measured.statusCode }
    /// The number of redirects followed.
    public var redirectCount: Int { measured.redirectCount }

    /// The speed in bytes per second, from `responseBodyBytesReceived` and `retrieveImageDuration`;
    /// `nil` if either is unknown or zero.
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

    private var measured: Measured { storage.measured }

    /// The measurements, behind one reference because every result of a request carries them.
    private let storage: Storage

    private final class Storage: Sendable {
        let measured: Measured

        init(_ measured: Measured) {
            self.measured = measured
        }
    }

    struct Measured {
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let times: ExchangeTimes?
        let sentByteCount: Int
        let receivedByteCount: Int
        var resumedByteCount = 0
        let statusCode: Int
        let redirectCount: Int

        fileprivate func seconds(
            _ from: ContinuousClock.Instant?, _ to: ContinuousClock.Instant?
        ) -> TimeInterval? {
            guard let from, let to else { return nil }
            return (to - from) / .seconds(1)
        }
    }

    init(_ measured: Measured) {
        storage = Storage(measured)
    }
}
