import Foundation
import HalcyonServer
import HalcyonWork
import Logging

/// Writes the log to the standard error stream, one line for each event, on a thread of its own.
final class LogWriter: Sendable {
    let logger: Logger
    private let thread: ThreadPool

    init(_ settings: ImageServerConfiguration.Log) {
        let thread = ThreadPool(name: "log", width: 1)
        let isJSON = settings.format.map { $0 == .json } ?? (isatty(STDERR_FILENO) == 0)
        let level = Logger.Level(rawValue: settings.level.rawValue) ?? .info
        logger = Logger(label: "halcyon-server") { _ in
            LineLogHandler(isJSON: isJSON, logLevel: level, thread: thread)
        }
        self.thread = thread
    }

    /// Returns when everything has been written.
    func finish() async {
        await thread.run {}
    }
}

/// Events as lines of text or of JSON.
private struct LineLogHandler: LogHandler {
    let isJSON: Bool
    var logLevel: Logger.Level
    let thread: ThreadPool
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let time = Date()
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        thread.submit { [isJSON] in
            let line =
                isJSON
                ? Self.json(time, event.level, "\(event.message)", metadata)
                : Self.text(time, event.level, "\(event.message)", metadata)
            // There is no other place to tell that there is none to write to.
            try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    private static func text(
        _ time: Date, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata
    ) -> String {
        let values = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ([timestamp(time), level.rawValue, message] + values).joined(separator: " ")
    }

    private static func json(
        _ time: Date, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata
    ) -> String {
        var object = metadata.mapValues { "\($0)" }
        object["ts"] = timestamp(time)
        object["level"] = level.rawValue
        object["msg"] = message
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A table of texts can be encoded.
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func timestamp(_ time: Date) -> String {
        time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
                separator: .omitted))
    }
}
