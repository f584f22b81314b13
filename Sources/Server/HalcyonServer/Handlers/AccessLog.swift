import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import Logging
import NIOCore

struct AccessLog: Sendable {
    let logger: Logger
    let metrics: ServerMetrics
    let hitRates: HitRates
    let paths: LoggedPaths
    let showsHits: Bool
    let isUnsigned: Bool
    let time: TimeSource
    /// Samples the log lines about requests refused because too many are waiting.
    private let busyLines = LogSampling()

    func note(_ answer: ServerAnswer, to request: ServerRequest) {
        let notes = answer.notes
        guard !notes.isQuiet else { return }
        let duration = time.now - request.start
        let status = answer.notedStatus
        metrics.requests.add([notes.route, String(status)])
        metrics.durations.observe(duration.inSeconds, [notes.route, notes.cache])
        if let failure = notes.failure { metrics.note(failure) }
        switch notes.cache {
        case "hit", "stale", "not_modified": hitRates.note(isHit: true)
        case "miss": hitRates.note(isHit: false)
        default: break
        }

        let isHit = notes.cache == "hit" || notes.cache == "not_modified"
        var level =
            notes.failure?.kind.logLevel.level ?? (isHit && !showsHits ? .debug : .info)
        if notes.failure?.hasStoppedDecoder == true { level = max(level, .warning) }
        var leftOut = 0
        if notes.failure?.kind == .busy {
            // Refusals of a crowd are logged once in a second.
            if let count = busyLines.take(at: time.now) {
                leftOut = count
            } else {
                level = .debug
            }
        }
        guard logger.logLevel <= level else { return }
        var metadata = metadata(answer, status, request, duration)
        if leftOut > 0 { metadata["leftOut"] = .stringConvertible(leftOut) }
        logger.log(level: level, "request", metadata: metadata)
    }

    private func metadata(
        _ answer: ServerAnswer, _ status: Int, _ request: ServerRequest, _ duration: Duration
    ) -> Logger.Metadata {
        let notes = answer.notes
        var metadata: Logger.Metadata = [
            "id": "\(request.id)",
            "method": "\(request.method)",
            "path": "\(paths.text(of: request))",
            "route": "\(notes.route)",
            "status": .stringConvertible(status),
            "bytes": .stringConvertible(answer.body?.readableBytes ?? 0),
            "cache": "\(notes.cache)",
        ]
        func add(_ key: String, _ value: (some CustomStringConvertible & Sendable)?) {
            if let value { metadata[key] = .stringConvertible(value) }
        }
        add("tier", notes.tier)
        add("peer", request.peer)
        add("source", notes.source.map(LogText.source))
        add("in", notes.input)
        add("out", notes.output)
        add("w", notes.width)
        add("h", notes.height)
        add("frames", notes.frames)
        add("sourceBytes", notes.sourceBytes)
        add("ua", request.fields.first("User-Agent").map { LogText.printable($0, limit: 200) })
        var times: Logger.Metadata = ["total": .stringConvertible(duration.milliseconds)]
        for (name, duration) in notes.stages {
            times[name] = .stringConvertible(duration.milliseconds)
        }
        metadata["ms"] = .dictionary(times)
        if isUnsigned { metadata["unsigned"] = .stringConvertible(true) }
        if let failure = notes.failure {
            metadata["code"] = "\(failure.kind.code)"
            metadata["reason"] = "\(LogText.reason(failure.detail))"
            add("refused", failure.refusal)
            add("cause", failure.cause.map(LogText.reason))
        }
        return metadata
    }
}

extension ServerMetrics {
    fileprivate func note(_ failure: Failure) {
        errors.add([failure.kind.code])
        if let refusal = failure.refusal, !failure.isRemembered { refused.add([refusal]) }
        switch failure.kind {
        case _ where failure.lacksMemory: rejected.add(["memory"])
        case .busy: rejected.add(["queue"])
        case .deadline: rejected.add(["deadline"])
        case .draining: rejected.add(["draining"])
        case .clientGone: cancelled.add(["request"])
        default: break
        }
    }
}

/// The targets of requests without their signatures and other secrets.
struct LoggedPaths: Sendable {
    /// The prefix of all public paths.
    let prefix: String
    let unsigned: String?

    /// Returns a target with `<sig>` in place of its signature, and its source without secrets.
    func text(of request: ServerRequest) -> String {
        let target = request.target
        var prefix = prefix
        var rest = target.hasPrefix(prefix) ? target.dropFirst(prefix.count) : target[...]
        let routes = ["/info", "/playground/image", "/playground/info"]
        if let route = routes.first(where: { rest.hasPrefix($0 + "/") }) {
            prefix += route
            rest = rest.dropFirst(route.count)
        } else if rest.hasPrefix(PageRoute.folder) {
            return LogText.printable(request.path, limit: 1000)
        }
        let parts = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let isUnsigned = unsigned.map { rest.hasPrefix($0) } ?? false
        guard parts.count == 3, !isUnsigned else { return LogText.source(target) }
        let signature = parts[1] == "-" ? "-" : "<sig>"
        return LogText.printable(
            "\(prefix)/\(signature)/" + LogText.source(String(parts[2])), limit: 1000)
    }
}

extension ServerFailure.LogLevel {
    /// Both have the same words.
    fileprivate var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .error }
}

/// Makes untrusted texts safe for the log.
enum LogText {
    /// Returns a source without its secrets, and with 200 characters of its query at most.
    static func source(_ source: String) -> String {
        // Bytes of files' names need not be text.
        let text = masked(String(decoding: source.unescapedBytes, as: UTF8.self))
        guard let mark = text.firstIndex(of: "?") else { return printable(text, limit: 1000) }
        return printable(text[..<mark] + text[mark...].prefix(201), limit: 1000)
    }

    /// Returns the reason of a failure, which may contain a source.
    static func reason(_ text: String) -> String { printable(masked(text), limit: 500) }

    /// Removes secrets, also from a source that is percent-encoded as a whole.
    private static func masked(_ text: String) -> String {
        let masked = text.maskingSecrets
        guard masked.utf8.contains(UInt8(ascii: "%")), let decoded = masked.removingPercentEncoding
        else { return masked }
        let maskedInside = decoded.maskingSecrets
        return maskedInside == decoded ? masked : maskedInside
    }

    /// Replaces control characters, and limits the length.
    static func printable(_ text: some StringProtocol, limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
