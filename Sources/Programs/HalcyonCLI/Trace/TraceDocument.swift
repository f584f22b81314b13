import Foundation
import Halcyon
import HalcyonHTTP

/// The events of requests as a Chrome trace in JSON, which Perfetto opens too: one track for each
/// request, with its stages as spans.
struct TraceDocument {
    private var lines: [JSONObject] = []
    private let start: ContinuousClock.Instant?

    init(_ events: [ImageEvent]) {
        start = events.map(\.time).min()
        var requests: [ImageEvent.RequestID] = []
        let grouped = Dictionary(grouping: events, by: \.request)
        for event in events where !requests.contains(event.request) {
            requests.append(event.request)
        }
        for (index, request) in requests.enumerated() {
            add(grouped[request] ?? [], line: index + 1)
        }
    }

    var text: String {
        JSONObject(["displayTimeUnit": "ms", "traceEvents": lines]).jsonText
    }

    private mutating func add(_ events: [ImageEvent], line: Int) {
        guard let first = events.first, let start else { return }
        lines.append(
            JSONObject([
                "name": "thread_name", "ph": "M", "pid": 1, "tid": line,
                "args": JSONObject(["name": first.name]),
            ]))
        var trail = RequestTrail(start: first.time)
        for event in events {
            switch event.kind {
            case .found(let type): mark("found \(type.place)", event.time, line)
            case .foundOriginal: mark("original found", event.time, line)
            case .stored(.memory): mark("stored in memory", event.time, line)
            default: break
            }
            for step in trail.follow(event.kind, at: event.time) { add(step, of: event, line) }
            if let result = Self.result(of: event) {
                add("request", from: first.time, to: event.time, line, result)
            }
        }
        if !events.contains(where: \.kind.isEnd), let last = events.last {
            add("request", from: max(start, first.time), to: last.time, line)
        }
    }

    private mutating func add(_ step: RequestTrail.Step, of event: ImageEvent, _ line: Int) {
        switch step {
        case .stage(let stage, let from, let to):
            add(stage.name, from: from, to: to, line)
        case .fetched(let count, let metrics, let from, let to):
            add("transfer", from: from, to: to, line, args(count, metrics))
            if let metrics { addPhases(of: metrics, endingAt: to, after: from, line) }
        case .unfetched(let isFailure, let from, let to):
            let result = JSONObject(["result": isFailure ? "failed" : "cancelled"])
            add("transfer", from: from, to: to, line, result)
        case .retried: mark("retried", event.time, line)
        case .revalidated: mark("revalidated", event.time, line)
        case .ended: break
        }
    }

    private static func result(of event: ImageEvent) -> JSONObject? {
        switch event.kind {
        case .succeeded(let type): JSONObject(["result": type.name])
        case .failed(let error): JSONObject(["error": LoadFailure(error, at: event.name).json])
        case .cancelled: JSONObject(["result": "cancelled"])
        default: nil
        }
    }

    private func args(_ count: Int, _ metrics: NetworkMetrics?) -> JSONObject {
        var args = JSONObject(["bytes": count])
        if let metrics {
            args.add(["status": metrics.httpStatusCode, "redirects": metrics.redirectCount])
            args.add(present: ["reused": metrics.isConnectionReused])
        }
        return args
    }

    /// Adds the phases of a download's last request, which follow each other up to its end.
    private mutating func addPhases(
        of metrics: NetworkMetrics, endingAt end: ContinuousClock.Instant,
        after began: ContinuousClock.Instant, _ line: Int
    ) {
        guard let taken = metrics.retrieveImageDuration else { return }
        // A shared transfer may have begun before.
        let sent = max(began, end - .seconds(taken))
        if let first = metrics.firstByteDuration {
            let answered = min(end, sent + .seconds(first))
            add("answer", from: sent, to: answered, line)
            add("body", from: answered, to: end, line)
        }
        if let connect = metrics.connectDuration {
            let connecting = max(began, sent - .seconds(connect))
            if let lookup = metrics.domainLookupDuration {
                add("name", from: max(began, connecting - .seconds(lookup)), to: connecting, line)
            }
            add("connect", from: connecting, to: sent, line)
            // The last part of connecting, drawn below it.
            if let secure = metrics.secureConnectionDuration {
                add("TLS", from: max(connecting, sent - .seconds(secure)), to: sent, line)
            }
        }
    }

    private mutating func add(
        _ name: String, from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant,
        _ line: Int, _ args: JSONObject = JSONObject()
    ) {
        lines.append(
            JSONObject([
                "name": name, "cat": "image", "ph": "X", "ts": microseconds(begin),
                "dur": (end - begin).milliseconds * 1000, "pid": 1, "tid": line, "args": args,
            ]))
    }

    private mutating func mark(_ name: String, _ time: ContinuousClock.Instant, _ line: Int) {
        lines.append(
            JSONObject([
                "name": name, "cat": "image", "ph": "i", "s": "t", "ts": microseconds(time),
                "pid": 1, "tid": line,
            ]))
    }

    private func microseconds(_ time: ContinuousClock.Instant) -> Double {
        start.map { ($0.duration(to: time)).milliseconds * 1000 } ?? 0
    }
}

extension ImageEvent {
    /// The source's key, without secrets.
    fileprivate var name: String { source.cacheKey.maskingSecrets }
}

extension ImageStage {
    fileprivate var name: String {
        switch self {
        case .lookup: "look up"
        case .fetch: "transfer"
        case .queue: "wait for a thread"
        case .process: "process"
        case .decode: "decode"
        case .store: "store on disk"
        }
    }
}

extension CacheType {
    fileprivate var place: String {
        switch self {
        case .none: "nowhere"
        case .memory: "in memory"
        case .disk: "on disk"
        }
    }
}

/// A recording of the request events of a manager, started by `init`.
final class TraceRecording: Sendable {
    private let collecting: Task<[ImageEvent], Never>

    init(of manager: KingfisherManager) {
        let events = manager.events
        collecting = Task {
            var all: [ImageEvent] = []
            for await event in events { all.append(event) }
            return all
        }
    }

    /// Ends the recording and writes the trace.
    /// - Throws: An error that names the file.
    func write(to path: String) async throws {
        // Ends the sequence after the events already in it.
        collecting.cancel()
        let events = await collecting.value
        try await BlockingWork.run {
            do {
                try PendingFile.write(Data(TraceDocument(events).text.utf8), to: path)
            } catch {
                let reason = ErrorText.of(error)
                throw CommandFailure(
                    description: "The trace “\(path.printable)” could not be written: \(reason)")
            }
        }
    }
}
