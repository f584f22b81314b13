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
        let isJSON = Self.format(of: settings) == .json
        let level = Logger.Level(rawValue: settings.level.rawValue) ?? .info
        logger = Logger(label: "halcyon-server") { _ in
            LineLogHandler(isJSON: isJSON, logLevel: level, thread: thread)
        }
        self.thread = thread
    }

    /// The format of lines: as the settings say, or by where they go.
    static func format(
        of settings: ImageServerConfiguration.Log
    ) -> ImageServerConfiguration.Log.Format {
        settings.format ?? (isatty(STDERR_FILENO) == 0 ? .json : .text)
    }

    func finish() async {
        await thread.run {}
    }
}

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
            let head = [Self.timestamp(time), event.level.rawValue, "\(event.message)"]
            let line =
                isJSON
                ? Self.json(head, metadata)
                : (head + Self.words(metadata)).joined(separator: " ")
            // There is no other place to tell that there is none to write to.
            try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    /// `name=value` and, for tables, `name.inner=value`.
    private static func words(_ metadata: Logger.Metadata, below prefix: String = "") -> [String] {
        metadata.sorted { $0.key < $1.key }.flatMap { name, value in
            if case .dictionary(let inner) = value {
                return words(inner, below: "\(prefix)\(name).")
            }
            return ["\(prefix)\(name)=\(value)"]
        }
    }

    /// - Parameter head: Time, level and message.
    private static func json(_ head: [String], _ metadata: Logger.Metadata) -> String {
        var object = metadata.mapValues(JSONValue.init)
        for (name, text) in zip(["ts", "level", "msg"], head) {
            object[name] = JSONValue(value: .string(text))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers can be encoded.
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func timestamp(_ time: Date) -> String {
        time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
                separator: .omitted))
    }
}

/// A value of an event: numbers stay numbers.
private struct JSONValue: Encodable {
    let value: Logger.MetadataValue

    func encode(to encoder: any Encoder) throws {
        var place = encoder.singleValueContainer()
        switch value {
        case .dictionary(let table): try place.encode(table.mapValues(JSONValue.init))
        case .array(let list): try place.encode(list.map(JSONValue.init))
        case .stringConvertible(let number as Int): try place.encode(number)
        case .stringConvertible(let number as Double) where number.isFinite:
            try place.encode(number)
        case .stringConvertible(let flag as Bool): try place.encode(flag)
        default: try place.encode("\(value)")
        }
    }
}
