import Logging

/// Writes what the library logs to the console, so that it does not spoil the progress.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    init(console: Console) {
        self.console = console
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        console.note("halcyon: \(event.level): \("\(event.message)".printable)")
    }
}
