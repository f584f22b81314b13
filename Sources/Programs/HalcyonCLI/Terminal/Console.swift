import Dispatch
import Foundation

/// Standard output for results and standard error for progress, coordinated so that they do not
/// garble each other on one terminal.
///
/// Everything is written in the order of the calls, on the console's own queue.
final class Console: @unchecked Sendable {
    // Unchecked because the state belongs to `queue`, which alone touches it.

    let outputStyle: TextStyle
    let errorStyle: TextStyle
    let isLive: Bool
    /// Whether progress is written in lines: standard error is not a live terminal, and not the
    /// same file as standard output.
    let tellsProgressInLines: Bool

    private let queue = DispatchQueue(label: "halcyon.console")
    private let onOutputLost: @Sendable () -> Void
    private var outputError: POSIXError?
    private var board: ProgressBoard?
    private var drawnLines = 0
    private var needsDrawing = false
    private var ticker: (any DispatchSourceTimer)?

    /// - Parameter onOutputLost: Called once, when writing to standard output fails.
    init(
        quiet: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        onOutputLost: @escaping @Sendable () -> Void = {}
    ) {
        outputStyle = TextStyle(
            isTerminal: StandardStream.output.isTerminal, environment: environment)
        errorStyle = TextStyle(
            isTerminal: StandardStream.error.isTerminal, environment: environment)
        isLive = !quiet && StandardStream.error.isTerminal && environment["TERM"] != "dumb"
        tellsProgressInLines = !quiet && !isLive && !StandardStream.error.isSame(as: .output)
        self.onOutputLost = onOutputLost
    }

    func print(_ line: String) {
        queue.async { self.writeOutput(Data((line + "\n").utf8)) }
    }

    func print(_ lines: [String]) {
        for line in lines { print(line) }
    }

    /// Writes a line to standard output and blocks until that is done, so that a long list does not
    /// pile up before a slow reader.
    /// - Throws: `OutputLost` when standard output cannot be written.
    func printNow(_ line: String) throws {
        try write(Data((line + "\n").utf8))
    }

    /// Writes `data` to standard output and blocks until that is done.
    /// - Throws: `OutputLost` when standard output cannot be written.
    func write(_ data: Data) throws {
        try queue.sync {
            self.writeOutput(data)
            try self.checkOutput()
        }
    }

    func note(_ line: String) {
        queue.async {
            self.erase()
            self.writeError(line + "\n")
            self.draw()
        }
    }

    /// Changes the progress; it is drawn at most fifteen times a second.
    func progress(_ change: @escaping @Sendable (inout ProgressBoard) -> Void) {
        guard isLive else { return }
        queue.async {
            guard self.board != nil else { return }
            change(&self.board!)
            self.needsDrawing = true
        }
    }

    /// Starts to draw progress. Does nothing unless the console is live.
    func beginProgress(_ board: ProgressBoard) {
        guard isLive else { return }
        queue.async {
            self.endProgress()
            self.board = board
            self.draw()
            let ticker = DispatchSource.makeTimerSource(queue: self.queue)
            ticker.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
            ticker.setEventHandler { [weak self] in
                if let self, needsDrawing { redraw() }
            }
            ticker.resume()
            self.ticker = ticker
        }
    }

    /// Removes the progress from the terminal.
    func removeProgress() {
        queue.async { self.endProgress() }
    }

    /// Removes the progress from the terminal and returns when everything has been written.
    /// - Throws: `OutputLost` when standard output could not be written.
    func finish() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                self.endProgress()
                continuation.resume(with: Result { try self.checkOutput() })
            }
        }
    }

    private func endProgress() {
        ticker?.cancel()
        ticker = nil
        erase()
        board = nil
    }

    /// Removes the progress, from any thread, before the process exits at once.
    func eraseNow() {
        queue.sync { erase() }
    }

    struct OutputLost: Error, CustomStringConvertible {
        let error: POSIXError

        /// Whether the reader has closed the pipe, which is not worth an error message.
        var isClosedPipe: Bool { error.code == .EPIPE }

        var description: String { "Standard output cannot be written: \(error.text)" }
    }

    private static let interval: TimeInterval = 1.0 / 15

    private func writeOutput(_ data: Data) {
        guard outputError == nil else { return }
        erase()
        do {
            try StandardStream.output.write(data)
        } catch {
            outputError = error as? POSIXError ?? POSIXError(.EIO)
            onOutputLost()
        }
        draw()
    }

    private func checkOutput() throws {
        if let outputError { throw OutputLost(error: outputError) }
    }

    private func writeError(_ text: String) {
        // A failure of standard error cannot be reported anywhere.
        try? StandardStream.error.write(text)
    }

    /// Erases and draws in one write, to avoid flicker.
    private func redraw() {
        let erasing = eraseSequence
        drawnLines = 0
        draw(after: erasing)
    }

    private var eraseSequence: String {
        drawnLines > 0 ? "\r\u{1B}[\(drawnLines)A\u{1B}[J" : ""
    }

    private func erase() {
        guard drawnLines > 0 else { return }
        writeError(eraseSequence)
        drawnLines = 0
    }

    private func draw(after prefix: String = "") {
        needsDrawing = false
        guard let board else { return }
        let size = StandardStream.error.terminalSize
        let lines = board.lines(width: size.columns - 1, height: size.rows, style: errorStyle)
        writeError(prefix + lines.map { $0 + "\n" }.joined())
        drawnLines = lines.count
    }
}
