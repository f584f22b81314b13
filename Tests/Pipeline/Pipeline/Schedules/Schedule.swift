import HalcyonTestKit

/// Calls at a manager and what befalls them meanwhile, chosen by a seed.
///
/// Only what is done, and in which order, follows from the seed; which thread is faster does not.
struct Schedule: Sendable {
    enum Answer: CaseIterable, Sendable {
        case image
        /// A page with status 200.
        case page
        case unavailable
        /// The connection breaks before there is an answer.
        case reset
        /// It breaks in the middle of the picture.
        case cutShort
    }

    struct Exchange: Sendable {
        var answer: Answer
        /// Opened by a step; `nil` for an answer at once.
        var gate: Int?
    }

    enum Trait: CaseIterable, Sendable {
        case processed, cachesOriginal, hasOriginalCache, waitsForCache, refreshes, ignoresDisk
        case onlyFromCache, cachesInMemoryOnly, probesElsewhere, readsDiskAtOnce
        case modifiesRequest, retries, callsBackOnQueue
    }

    struct Call: Sendable {
        enum Form: CaseIterable, Sendable {
            case callback, task, prefetcher
        }

        var form: Form
        var picture: Int
        /// Tried when the picture fails.
        var alternative: Int?
        /// The picture comes from a data provider; `nil` from the origin.
        var provider: Provider?
        var traits: Set<Trait>
        /// Whether it is the first task that is cancelled, or the latest one.
        var cancelsFirstTask: Bool

        var pictures: [Int] { [picture] + (alternative.map { [$0] } ?? []) }
    }

    struct Provider: Sendable {
        var gate: Int?
        var heedsCancellation: Bool
    }

    enum Event: Sendable {
        case start(Int)
        case cancel(Int)
        case reprioritize(Int)
        case open(gate: Int)
        case cancelDownloads(of: Int)
        case remove(Int)
        case clearMemory
        case clearDisk
    }

    struct Step: Sendable {
        var event: Event
        /// How often others get their turn before the event.
        var yields: Int
    }

    static let gateCount = 3

    let seed: UInt64
    /// The answers of the origin for each picture; further ones are images.
    let exchanges: [[Exchange]]
    let calls: [Call]
    let steps: [Step]

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(state: seed)
        let pictureCount = Int.random(in: 1...3, using: &random)
        exchanges = (0..<pictureCount).map { _ in Self.exchanges(&random) }
        calls = (0..<Int.random(in: 2...6, using: &random)).map { _ in
            Self.call(pictureCount, &random)
        }
        steps = Self.steps(calls, pictureCount, &random)
    }

    /// Whether all that the origin answers for `picture` are images.
    func isServed(_ picture: Int) -> Bool {
        exchanges[picture].allSatisfy { $0.answer == .image }
    }

    /// Whether somebody else than the caller may cancel the download of `picture`.
    func isCancelledByOthers(_ picture: Int) -> Bool {
        steps.contains { if case .cancelDownloads(of: picture) = $0.event { true } else { false } }
    }

    private static func exchanges(_ random: inout SeededGenerator) -> [Exchange] {
        let isReliable = chance(0.6, &random)
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let answer = isReliable ? Answer.image : Answer.allCases.randomElement(using: &random)
            return Exchange(answer: answer ?? .image, gate: gate(&random))
        }
    }

    private static func call(_ pictureCount: Int, _ random: inout SeededGenerator) -> Call {
        let traits = Trait.allCases.filter { trait in
            chance(trait == .onlyFromCache ? 0.06 : 0.2, &random)
        }
        let pictures = 0..<pictureCount
        let isProvided = chance(0.15, &random)
        return Call(
            form: Call.Form.allCases.randomElement(using: &random) ?? .callback,
            picture: Int.random(in: pictures, using: &random),
            alternative: chance(0.2, &random) ? Int.random(in: pictures, using: &random) : nil,
            provider: isProvided
                ? Provider(gate: gate(&random), heedsCancellation: chance(0.5, &random)) : nil,
            traits: Set(traits), cancelsFirstTask: chance(0.5, &random))
    }

    private static func steps(
        _ calls: [Call], _ pictureCount: Int, _ random: inout SeededGenerator
    ) -> [Step] {
        var events = calls.indices.map(Event.start)
        func insert(_ event: Event, from: Int = 0, _ random: inout SeededGenerator) {
            events.insert(event, at: Int.random(in: from...events.count, using: &random))
        }
        for call in calls.indices {
            // Each start is at the place of its number or later.
            if chance(0.35, &random) { insert(.cancel(call), from: call + 1, &random) }
            if chance(0.1, &random) { insert(.reprioritize(call), from: call + 1, &random) }
        }
        for gate in 0..<gateCount where chance(0.7, &random) {
            insert(.open(gate: gate), &random)
        }
        let picture = Int.random(in: 0..<pictureCount, using: &random)
        if chance(0.05, &random) { insert(.cancelDownloads(of: picture), &random) }
        if chance(0.2, &random) { insert(.clearMemory, &random) }
        if chance(0.08, &random) { insert(.clearDisk, &random) }
        if chance(0.1, &random) { insert(.remove(picture), &random) }
        return events.map { event in
            Step(event: event, yields: max(0, Int.random(in: -3...4, using: &random)))
        }
    }

    private static func gate(_ random: inout SeededGenerator) -> Int? {
        chance(0.5, &random) ? Int.random(in: 0..<gateCount, using: &random) : nil
    }

    private static func chance(_ probability: Double, _ random: inout SeededGenerator) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
