import Foundation
import Glibc
import HalcyonPixels
import Synchronization
import Vips

/// Decodes files on threads, and reports the outcome of each.
struct DecodingRun: Sendable {
    private let options: TrialOptions

    init(_ options: TrialOptions) { self.options = options }

    func decode() {
        announceWorkers()
        let names = (0..<options.rounds).flatMap { _ in options.files }
        Self.onThreads(options.threads, count: names.count) { index in
            let outcome = Outcome(of: names[index], options, number: index)
            Output.shared.tell(outcome.line)
            if let signal = options.signal { signalWorkers(signal) }
        }
        Output.shared.tellStatistics()
    }

    /// Runs `body` for each number below `count`, on `threads` new threads.
    static func onThreads(_ threads: Int, count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let next = Counter()
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            let thread = Thread {
                while case let index = next.take(), index < count { body(index) }
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
    }

    private final class Counter: Sendable {
        private let next = Atomic(0)

        func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
    }

    private func signalWorkers(_ signal: Int32) {
        let template = DecodingWorker.template.map { [$0] } ?? []
        for process in options.signalsTemplate ? template : DecodingWorker.processes {
            kill(process, signal)
        }
    }

    /// Reports the process IDs of the workers once there are some. With a signal to send and a
    /// picture that waits for it, sends the signal when the worker has started.
    private func announceWorkers() {
        let thread = Thread { [self] in
            while DecodingWorker.processes.isEmpty { usleep(10_000) }
            usleep(200_000)
            let processes = DecodingWorker.processes
            let template = DecodingWorker.template.map { [$0] } ?? []
            Output.shared.tell(["workers": (template + processes).map { Int($0) }])
            guard let signal = options.signal, options.files.contains("trial:unless-calm")
            else { return }
            setenv(TrialAction.calm, "1", 1)
            // With another path the program is executed anew, with that variable.
            DecodingWorker.program = "/proc/\(getpid())/exe"
            signalWorkers(signal)
        }
        thread.start()
    }
}

/// The outcome of decoding a file.
struct Outcome {
    let name: String
    let number: Int
    let result: String
    let error: String?
    let milliseconds: Int
    var isGood: Bool { error == nil && result != "wrong" }

    init(of name: String, _ options: TrialOptions, number: Int) {
        self.name = name
        self.number = number
        let begin = DispatchTime.now()
        let stop = DecodingStop()
        let picture = TrialPicture(name)
        let givesUp = options.givesUp && picture?.action != TrialPicture.good
        let giveUp = givesUp ? { stop.give() } : nil
        do {
            let data = try picture?.data ?? Data(contentsOf: URL(fileURLWithPath: name))
            let bitmap = try LongDecoding.noting(giveUp) {
                try stop.watching {
                    try Image.decoding(data, options: options.creating(number)).bitmap()
                }
            }
            if let picture, data.starts(with: Data("II".utf8)) {
                result = Self.equals(bitmap, picture.pixels) ? "ok" : "wrong"
            } else {
                result = "\(bitmap.size.width)x\(bitmap.size.height)"
            }
            error = nil
        } catch {
            result = "error"
            self.error = "\(error)"
        }
        milliseconds = Int(
            (DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1_000_000)
        Vips.endJob()
    }

    private static func equals(_ bitmap: Bitmap, _ pixels: [UInt8]) -> Bool {
        bitmap.withUnsafeBytes { bitmap in
            pixels.withUnsafeBytes { pixels in
                bitmap.count == pixels.count
                    && memcmp(bitmap.baseAddress!, pixels.baseAddress!, pixels.count) == 0
            }
        }
    }

    var line: [String: Any] {
        var line: [String: Any] = [
            "name": name, "number": number, "outcome": result, "milliseconds": milliseconds,
        ]
        if let error { line["error"] = error }
        return line
    }
}

/// Lines of JSON, from any thread.
final class Output: Sendable {
    static let shared = Output()

    private let lock = Mutex(())

    func tell(_ line: [String: Any]) {
        let bytes = try? JSONSerialization.data(
            withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        guard let bytes else { return }
        lock.withLock { _ in FileHandle.standardOutput.write(bytes + [0x0A]) }
    }

    /// Counts of workers.
    func tellStatistics(_ more: [String: Any] = [:]) {
        let counts = DecodingWorker.statistics
        let line: [String: Any] = [
            "alive": counts.alive, "started": counts.started, "died": counts.died,
            "killed": counts.killed, "memory": counts.memory,
        ]
        tell(line.merging(more) { $1 })
    }
}
