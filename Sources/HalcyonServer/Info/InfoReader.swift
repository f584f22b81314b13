import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonStorage
import HalcyonWork

/// A document about a source, as it is sent.
private struct InfoText: CacheCostCalculable {
    let text: String

    var cacheCost: Int { text.utf8.count + 256 }
}

/// Reads what is to be told of sources, each once for all who ask, and keeps it in memory.
final class InfoReader: Sendable {
    private let sources: SourceFinder
    private let rules: PictureRules
    private let gate: Gate
    private let texts: MemoryStorage.Backend<InfoText>
    private let work = SharedTasks<String, Made>()

    private struct Made: Sendable {
        let text: String
        /// Whether the source had not changed since it was found.
        let isOfVersionFound: Bool
    }

    /// - Parameter gate: What work on pixels has to pass.
    init(sources: SourceFinder, rules: PictureRules, gate: Gate) {
        self.sources = sources
        self.rules = rules
        self.gate = gate
        var config = MemoryStorage.Config(totalCostLimit: 4 << 20)
        config.expiration = .seconds(3600)
        texts = MemoryStorage.Backend(config: config)
    }

    /// Forgets all that is known.
    func forget() { texts.removeAll() }

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
        let key = "\(source.key)\n\(source.validator)\n\(fields.canonicalText)"
        if isStorable, let known = texts.value(forKey: key) { return (known.text, true) }
        let (outcome, _) = await work.value(for: "\(key)\n\(source.version)", until: ending) {
            stopped in
            do throws(Failure) {
                return .success(try await self.made(source, fields, by: deadline, stopped))
            } catch {
                return .failure(error)
            }
        }
        let made = try outcome.get()
        if isStorable, made.isOfVersionFound, source.visit?.isUndisturbed != false {
            texts.store(value: InfoText(text: made.text), forKey: key)
        }
        return (made.text, false)
    }

    private func made(
        _ source: FoundSource, _ fields: InfoFields, by deadline: ContinuousClock.Instant,
        _ stopped: Ending
    ) async throws(Failure) -> Made {
        let (data, now) = try await sources.bytes(of: source, until: stopped)
        let place = fields.needsPixels ? try await gate.enter(by: deadline) : nil
        let rules = rules
        let result = await DecodingPool.run(until: stopped) { () throws(Failure) in
            try InfoDocument(data, fields: fields, rules: rules).json
        }
        if let place { gate.leave(place) }
        return Made(
            text: try result.get(), isOfVersionFound: now.validator == source.validator)
    }
}
