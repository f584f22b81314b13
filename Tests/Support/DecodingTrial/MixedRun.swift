import Foundation
import HalcyonPixels
import Synchronization

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
