import Foundation
import HalcyonPixels
import Synchronization

/// Many good pictures on threads, first alone and then mixed with killers.
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
        let alone = pass(named(withKillers: false), "alone")
        let mixed = pass(named(withKillers: true), "mixed")
        let ratio = alone > 0 ? mixed / alone : 0
        Output.shared.tellStatistics([
            "throughput": .text(String(format: "%.2f", ratio))
        ])
        return Tally.shared.isRight
    }

    /// The good ones all over, the killers in between.
    private func named(withKillers: Bool) -> [String] {
        var names: [String] = []
        var killer = 0
        for good in 0..<goods {
            names.append("trial:good#\(good)@\(options.size)")
            while withKillers, killer * goods < good * killers || good == goods - 1,
                killer < killers
            {
                names.append("trial:\(options.actions[killer % options.actions.count])#\(killer)")
                killer += 1
            }
        }
        return names
    }

    /// Decodes all of them.
    ///
    /// - Returns: Good pictures in a second.
    private func pass(_ names: [String], _ title: String) -> Double {
        let tally = Tally.shared
        tally.begin()
        let begin = DispatchTime.now().uptimeNanoseconds
        DecodingRun.onThreads(options.threads, count: names.count) { index in
            let outcome = Outcome(of: names[index], options, number: index)
            tally.count(outcome)
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
        let rate = Double(goods) / seconds
        Output.shared.tell(
            tally.line(title).merging([
                "seconds": .text(String(format: "%.1f", seconds)),
                "good a second": .text(String(format: "%.0f", rate)),
            ]) { $1 })
        return rate
    }
}

/// Counts what has become of pictures.
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

    static let shared = Tally()

    private let counts = Mutex(Counts())
    private let hasFailed = Atomic(false)

    var isRight: Bool { !hasFailed.load(ordering: .relaxed) }

    func begin() { counts.withLock { $0 = Counts() } }

    func count(_ outcome: Outcome) {
        let isGoodOne = outcome.name.hasPrefix("trial:good")
        if isGoodOne, !outcome.isGood {
            hasFailed.store(true, ordering: .relaxed)
            Output.shared.tell(outcome.line)
        }
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

    func line(_ title: String) -> [String: Output.Value] {
        counts.withLock { counts in
            let kinds = counts.kinds.sorted { $0.key < $1.key }.map { "\($0.key) × \($0.value)" }
            return [
                "pass": .text(title), "right": .number(counts.right),
                "wrong": .number(counts.wrong), "lost": .number(counts.lost),
                "survived": .number(counts.survived), "refused": .number(counts.refused),
                "longest": .number(counts.longest),
                "errors": .text(kinds.joined(separator: "; ")),
            ]
        }
    }
}
