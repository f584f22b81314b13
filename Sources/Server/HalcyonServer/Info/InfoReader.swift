import HalcyonHTTP
import HalcyonStorage
import HalcyonWork

/// A document about a source, as it is sent.
struct InfoText: CacheCostCalculable {
    let text: String

    var cacheCost: Int { text.utf8.count + 256 }

    /// Returns a cache of up to 4 MiB, each document for an hour after its last use.
    static func memory(_ time: TimeSource) -> MemoryStorage.Backend<InfoText> {
        var config = MemoryStorage.Config(totalCostLimit: 4 << 20)
        config.expiration = .seconds(3600)
        return MemoryStorage.Backend(config: config, now: time.expirationDate)
    }
}

/// Reads what is to be told of sources, each once for all who ask, and keeps it in memory.
struct InfoReader: Sendable {
    let sources: SourceFinder
    let rules: PictureRules
    let gate: Gate
    /// Documents that could not be made a moment ago.
    let failures: KnownFailures
    let texts: MemoryStorage.Backend<InfoText>
    private let work = SharedTasks<String, Made>()
    private let runs = DecodingRuns()

    private struct Made: Sendable {
        let text: String
        /// Whether the source had not changed since it was found.
        let isOfVersionFound: Bool
    }

    func forget() {
        texts.removeAll()
        failures.removeAll()
    }

    /// The document about a source.
    ///
    /// - Parameters:
    ///   - isStorable: Whether it may be kept for others.
    ///   - deadline: When nobody waits for it any longer.
    /// - Returns: Also whether it was there.
    func text(
        of source: FoundSource, fields: InfoFields, isStorable: Bool,
        by deadline: ContinuousClock.Instant, until ending: Ending
    ) async throws(Failure) -> (text: String, isHit: Bool) {
        let key = Self.key(source, fields)
        if isStorable, let known = texts.value(forKey: key) { return (known.text, true) }
        if let failure = failures[key] { throw failure }
        let name = "\(key)\n\(source.version)"
        let (outcome, _) = await work.value(
            for: name, until: ending, failure: { [runs] in runs.failure($0, of: name) }
        ) { stopped in
            await Result { () async throws(Failure) in
                try await self.made(source, fields, name, by: deadline, stopped)
            }
        }
        let made = try outcome.get()
        if isStorable, made.isOfVersionFound, !source.isPurged() {
            texts.store(value: InfoText(text: made.text), forKey: key)
        }
        return (made.text, false)
    }

    private static func key(_ source: FoundSource, _ fields: InfoFields) -> String {
        "\(source.key)\n\(source.validator)\n\(fields.canonicalText)"
    }

    private func made(
        _ source: FoundSource, _ fields: InfoFields, _ name: String,
        by deadline: ContinuousClock.Instant, _ stopped: Ending
    ) async throws(Failure) -> Made {
        let (data, now) = try await sources.bytes(of: source, until: stopped)
        let place = fields.needsPixels ? try await gate.enter(by: deadline) : nil
        let rules = rules
        let result = await runs.run(
            name, until: stopped, whenLong: { [gate] in if let place { gate.leave(place) } }
        ) { () throws(Failure) in
            try InfoDocument(data, fields: fields, rules: rules).json
        }
        if let place { gate.leave(place) }
        if case .failure(let failure) = result {
            failures.note(failure, for: Self.key(now, fields)) { source.isPurged() }
        }
        return Made(text: try result.get(), isOfVersionFound: now.validator == source.validator)
    }
}
