import Foundation
import HalcyonHTTP
import HalcyonServerPlans
import Logging
import NIOCore

extension ImageServer {
    /// Counts an answer, and writes it to the log.
    func note(_ answer: ServerAnswer, to request: ServerRequest) {
        let notes = answer.notes
        guard !notes.isQuiet else { return }
        let seconds = (ContinuousClock.now - request.start) / .seconds(1)
        let status = answer.notedStatus
        metrics.requests.add([notes.route, String(status)])
        metrics.durations.observe(seconds, [notes.route, notes.cache])
        if let failure = notes.failure { note(failure) }
        switch notes.cache {
        case "hit", "stale", "not_modified": hitRates.note(isHit: true)
        case "miss": hitRates.note(isHit: false)
        default: break
        }

        let isHit = notes.cache == "hit" || notes.cache == "not_modified"
        let level =
            notes.failure?.kind.logLevel.level
            ?? (isHit && !configuration.log.showsHits ? .debug : .info)
        guard logger.logLevel <= level else { return }
        logger.log(level: level, "request", metadata: metadata(answer, status, request, seconds))
    }

    private func note(_ failure: Failure) {
        metrics.errors.add([failure.kind.code])
        if let refusal = failure.refusal, !failure.isRemembered { metrics.refused.add([refusal]) }
        switch failure.kind {
        case .busy: metrics.rejected.add(["queue"])
        case .deadline: metrics.rejected.add(["deadline"])
        case .draining: metrics.rejected.add(["draining"])
        case .clientGone: metrics.cancelled.add(["request"])
        default: break
        }
    }

    private func metadata(
        _ answer: ServerAnswer, _ status: Int, _ request: ServerRequest, _ seconds: Double
    ) -> Logger.Metadata {
        let notes = answer.notes
        var metadata: Logger.Metadata = [
            "id": "\(request.id)",
            "method": "\(request.method)",
            "path": "\(LogText.path(request.target, below: prefix))",
            "route": "\(notes.route)",
            "status": .stringConvertible(status),
            "bytes": .stringConvertible(answer.body?.readableBytes ?? 0),
            "cache": "\(notes.cache)",
        ]
        func add(_ key: String, _ value: (some CustomStringConvertible & Sendable)?) {
            if let value { metadata[key] = .stringConvertible(value) }
        }
        add("peer", request.peer)
        add("source", notes.source.map(LogText.source))
        add("in", notes.input)
        add("out", notes.output)
        add("w", notes.width)
        add("h", notes.height)
        add("frames", notes.frames)
        add("sourceBytes", notes.sourceBytes)
        add("ua", request.fields.first("User-Agent").map { LogText.printable($0, limit: 200) })
        var times: Logger.Metadata = [
            "total": .stringConvertible(Self.tenths(.seconds(seconds)))
        ]
        for (name, duration) in notes.stages {
            times[name] = .stringConvertible(Self.tenths(duration))
        }
        metadata["ms"] = .dictionary(times)
        if !configuration.signature.isRequired { metadata["unsigned"] = .stringConvertible(true) }
        if let failure = notes.failure {
            metadata["code"] = "\(failure.kind.code)"
            metadata["reason"] = "\(LogText.printable(failure.detail, limit: 500))"
            add("refused", failure.refusal)
            add("cause", failure.cause.map { LogText.printable($0, limit: 500) })
        }
        return metadata
    }
}

extension ServerFailure.LogLevel {
    fileprivate var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

/// Texts of strangers as they may stand in a log.
enum LogText {
    /// A target with `<sig>` in place of its signature, and without what may be secret in its source.
    static func path(_ target: String, below prefix: String) -> String {
        var prefix = prefix
        var rest = target.hasPrefix(prefix) ? target.dropFirst(prefix.count) : target[...]
        let routes = ["/info", "/playground/image", "/playground/info"]
        if let route = routes.first(where: { rest.hasPrefix($0 + "/") }) {
            prefix += route
            rest = rest.dropFirst(route.count)
        } else if rest.hasPrefix(PageRoute.folder) {
            return printable(String(target.prefix { $0 != "?" }), limit: 1000)
        }
        let parts = rest.split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return printable(target, limit: 1000) }
        let signature = parts[1] == "-" ? "-" : "<sig>"
        return printable("\(prefix)/\(signature)/" + source(String(parts[2])), limit: 1000)
    }

    /// A source without the values of those items of its query that look like secrets, and with 200
    /// characters of the query at most.
    static func source(_ source: String) -> String {
        var source = source
        // The query may be part of a source that is percent-encoded as a whole.
        if let mark = source.range(of: "%3f", options: .caseInsensitive)?.lowerBound,
            mark < source.firstIndex(of: "?") ?? source.endIndex,
            let decoded = source.removingPercentEncoding
        {
            source = decoded
        }
        guard let mark = source.firstIndex(of: "?") else { return printable(source, limit: 1000) }
        let query = source[mark...].dropFirst().prefix(200)
        let secrets = ["token", "sig", "key", "password", "x-amz-", "secret", "auth"]
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            let isSecret = secrets.contains { name.lowercased().contains($0) }
            return isSecret && name.endIndex != item.endIndex ? "\(name)=***" : String(item)
        }
        return printable("\(source[..<mark])?\(items.joined(separator: "&"))", limit: 1000)
    }

    /// Without control characters, and not too long.
    static func printable(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
