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
                    let creating = options.creating(number)
                    let image =
                        try options.isAtOnce
                        ? Image.rendering(data, options: creating)
                        : Image.decoding(data, options: creating)
                    return try image.bitmap()
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

/// Many good pictures on threads, first alone and then with killers on threads beside them, as from other senders.
struct MixedRun: Sendable {
    private let options: TrialOptions
    private let goods: Int
    private let killers: Int

    init?(_ options: TrialOptions) {
        guard options.files.count == 2, let goods = Int(options.files[0]),
            let killers = Int(options.files[1]), goods > 0, !options.actions.isEmpty
        else { return nil }
        self.options = options
        self.goods = goods
        self.killers = killers
    }

    /// Whether all good pictures were right.
    func run() -> Bool {
        // Workers are there before the time is taken.
        _ = Outcome(of: "trial:good", options, number: 0)
        let alone = Pass("alone"), mixed = Pass("mixed")
        // In turns, so that a machine that is slow for a while is slow for both.
        for part in 0..<Self.parts {
            decode(part, killers: 0, alone)
            decode(part, killers: killers, mixed)
        }
        let ratio = alone.tell() / mixed.tell()
        Output.shared.tellStatistics(["throughput": String(format: "%.2f", ratio)])
        return alone.tally.isRight && mixed.tally.isRight
    }

    /// All good pictures, with or without killers.
    private final class Pass {
        let tally: Tally
        var seconds = 0.0

        init(_ title: String) { tally = Tally(title) }

        /// - Returns: The seconds that the good pictures took.
        func tell() -> Double {
            Output.shared.tell(tally.line(seconds))
            return seconds
        }
    }

    private static let parts = 5

    /// Decodes a part of them, a killer each time that as large a part of the good ones has begun.
    private func decode(_ part: Int, killers: Int, _ pass: Pass) {
        let (goods, killers) = (Self.range(goods, part), Self.range(killers, part))
        let tally = pass.tally
        let turns = Turns()
        let killing = DispatchGroup()
        if !killers.isEmpty {
            killing.enter()
            Thread.detachNewThread {
                DecodingRun.onThreads(Self.killerThreads, count: killers.count) { index in
                    turns.wait(until: index * goods.count / killers.count)
                    let number = killers.lowerBound + index
                    let action = options.actions[number % options.actions.count]
                    let name = "trial:\(action)" + (options.isAlike ? "" : "#\(number)")
                    tally.count(Outcome(of: name, options, number: number))
                }
                killing.leave()
            }
        }
        let begin = DispatchTime.now().uptimeNanoseconds
        DecodingRun.onThreads(options.threads, count: goods.count) { index in
            turns.note(index)
            let number = goods.lowerBound + index
            let name = "trial:good#\(number)@\(options.size)"
            tally.count(Outcome(of: name, options, number: number))
        }
        pass.seconds += Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
        killing.wait()
    }

    private static func range(_ count: Int, _ part: Int) -> Range<Int> {
        count * part / parts..<count * (part + 1) / parts
    }

    private static let killerThreads = 8

    /// Has killers wait for as many good pictures.
    private final class Turns: @unchecked Sendable {
        // Unchecked because the count is guarded by the condition's lock.
        private let condition = NSCondition()
        private var count = 0

        func note(_ index: Int) {
            condition.withLock {
                count = max(count, index + 1)
                condition.broadcast()
            }
        }

        func wait(until index: Int) {
            condition.withLock { while count <= index { condition.wait() } }
        }
    }
}

/// A count of the pictures by outcome.
final class Tally: Sendable {
    private struct Counts {
        var right = 0
        var wrong = 0
        var lost = 0
        /// Killers that were decoded as if nothing had been.
        var survived = 0
        var refused = 0
        var kinds: [String: Int] = [:]
        /// The longest time of a good picture.
        var longest = 0
    }

    private let title: String
    private let counts = Mutex(Counts())

    init(_ title: String) { self.title = title }

    /// Whether no good picture was wrong or lost.
    var isRight: Bool { counts.withLock { $0.wrong == 0 && $0.lost == 0 } }

    func count(_ outcome: Outcome) {
        let isGoodOne = outcome.name.hasPrefix("trial:good")
        if isGoodOne, !outcome.isGood { Output.shared.tell(outcome.line) }
        counts.withLock { counts in
            switch (isGoodOne, outcome.isGood) {
            case (true, true): counts.right += 1
            case (true, false) where outcome.error == nil: counts.wrong += 1
            case (true, false): counts.lost += 1
            case (false, true): counts.survived += 1
            case (false, false): counts.refused += 1
            }
            if isGoodOne { counts.longest = max(counts.longest, outcome.milliseconds) }
            if let error = outcome.error { counts.kinds[error, default: 0] += 1 }
        }
    }

    /// - Parameter seconds: The time that the good ones took.
    func line(_ seconds: Double) -> [String: Any] {
        counts.withLock { counts in
            let all = counts.right + counts.wrong + counts.lost
            let kinds = counts.kinds.sorted { $0.key < $1.key }.map { "\($0.key) × \($0.value)" }
            return [
                "pass": title, "right": counts.right, "wrong": counts.wrong, "lost": counts.lost,
                "survived": counts.survived, "refused": counts.refused, "longest": counts.longest,
                "seconds": String(format: "%.1f", seconds),
                "good a second": String(format: "%.0f", Double(all) / seconds),
                "errors": kinds.joined(separator: "; "),
            ]
        }
    }
}
