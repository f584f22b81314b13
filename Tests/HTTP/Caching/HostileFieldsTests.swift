import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

/// Whatever a server sends, parsing it ends, and what is decided keeps its promises.
@Suite("Fields of strangers") struct HostileFieldsTests {
    private static let pieces = [
        "max-age", "s-maxage", "=", "=60", "=\"", "\"", "\\", ",", ", ", ";", " ", "\t", "no-store",
        "no-cache", "no-cache=\"etag\"", "must-revalidate", "public", "private", "immutable",
        "stale-while-revalidate=9", "stale-if-error=99", "0", "9", "99999999999999999999", "-1",
        "*", "W/", "\"a\"", "bytes ", "bytes=", "-", "/", "(", ")", "?1", ":", "@", "%", "é",
        "\u{FFFD}", "\0", "\r\n", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "GMT", "Cookie", "🦜", "q=1.0",
    ]

    private static let names = [
        "Cache-Control", "Date", "Expires", "Age", "ETag", "Last-Modified", "Vary", "Pragma",
        "Connection", "Content-Range", "Content-Length", "Retry-After", "Location", "Cookie",
        "CDN-Cache-Control", "If-None-Match", "Range", "Accept-Language", "Accept-Ranges",
    ]

    private static func text(_ numbers: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...8, using: &numbers)
        if Int.random(in: 0...4, using: &numbers) == 0 {
            let bytes = (0..<count * 3).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            return String(decoding: bytes, as: UTF8.self)
        }
        return (0..<count).map { _ in pieces.randomElement(using: &numbers)! }.joined()
    }

    private static func fields(_ numbers: inout SeededGenerator) -> HTTPFields {
        let count = Int.random(in: 0...8, using: &numbers)
        return HTTPFields(
            (0..<count).map { _ in
                .init(name: names.randomElement(using: &numbers)!, value: text(&numbers))
            })
    }

    private static let policies = [
        HTTPCachePolicy.testing(), .testing(.shared) { $0.targetedFields = ["CDN-Cache-Control"] },
        .testing { $0.validation = .always }, .testing { $0.staleWhileRevalidate = .upTo(1e9) },
        .testing(.shared) { $0.fixedLifetime = 9 },
    ]

    @Test("No text is too much for a parser", arguments: 0..<8) func parsers(seed: UInt64) {
        var numbers = SeededGenerator(state: seed)
        for _ in 0..<500 {
            let text = Self.text(&numbers)
            _ = CacheControlDirectives(targeted: [text])
            _ = HTTPDateParser.date(text, now: noon)
            _ = ContentRange(text).map { #expect($0.count > 0 && $0.first >= 0) }
            if case .part(let part) = ByteRange(header: text, length: 7) {
                #expect(part.lowerBound >= 0 && part.upperBound <= 7 && !part.isEmpty)
            }
            _ = EntityTag(text).isStrong
            let seconds = DeltaSeconds.parse(text) ?? 0
            #expect((0...DeltaSeconds.maximum).contains(seconds))
            let delay = RetryAfter.delay(
                status: 503, fields: ["Retry-After": text, "Date": Self.text(&numbers)],
                received: noon)
            #expect((0...RetryAfter.limit).contains(delay ?? 0))
        }
    }

    @Test("Decisions keep their promises, whatever the fields", arguments: 0..<4)
    func decisions(seed: UInt64) throws {
        var numbers = SeededGenerator(state: seed &+ 99)
        for policy in Self.policies {
            for _ in 0..<60 {
                let request = HTTPCacheRequest.get(Self.fields(&numbers))
                guard
                    let stored = policy.storing(
                        request, status: [200, 301, 404].randomElement(using: &numbers)!,
                        fields: Self.fields(&numbers), requested: noon.addingTimeInterval(-1),
                        received: noon
                    ).stored
                else { continue }
                check(policy, request, stored)
                freshen(policy, request, stored, Self.fields(&numbers))
            }
        }
    }

    private func check(
        _ policy: HTTPCachePolicy, _ request: HTTPCacheRequest, _ stored: StoredResponse
    ) {
        let rules = policy.rules(of: stored.fields)
        let freshness = policy.freshness(of: stored)
        #expect(policy.matches(stored, request), "it answers the request it was stored for")
        #expect(freshness.lifetime >= 0 && freshness.lifetime.isFinite)
        #expect(freshness.initialAge >= 0)
        var age = freshness.initialAge
        for seconds in [-1e12, -1, 0, 1, 59, 60, 1e6, 1e12] {
            let now = noon.addingTimeInterval(seconds)
            #expect(freshness.age(at: now) >= age, "age never falls")
            age = freshness.age(at: now)
            if let until = policy.usableWithoutDecision(stored), now >= noon, now < until {
                #expect(policy.decide(with: stored, at: seconds) == .use)
            }
            let decision = policy.decide(
                request, with: policy.select(request, among: [stored]), now: now)
            switch decision {
            case .use:
                #expect(freshness.isFresh(at: now) && !rules.directives.noCache)
            case .useStale:
                #expect(!freshness.isFresh(at: now) && !rules.directives.mustRevalidate)
                #expect(!rules.directives.noCache)
            case .validate(let condition, _):
                #expect(stored.condition == condition)
            case .fetch, .unsatisfiable: break
            }
            if policy.usesStale(stored, for: request, after: .noAnswer, now: now) {
                #expect(!rules.directives.mustRevalidate && !rules.directives.noCache)
            }
        }
    }

    private func freshen(
        _ policy: HTTPCachePolicy, _ request: HTTPCacheRequest, _ stored: StoredResponse,
        _ fields: HTTPFields
    ) {
        let freshening = policy.freshen(
            stored, with: fields, for: request, requested: noon, received: noon)
        guard case .keep(let merged) = freshening else { return }
        for name in HTTPFields.ofContent {
            #expect(merged.fields.values(name) == stored.fields.values(name))
        }
        #expect(policy.matches(merged, request))
        #expect(!merged.isInvalidated)
        // The same 304 once more changes nothing.
        let again = policy.freshen(
            merged, with: fields, for: request, requested: noon, received: noon)
        #expect(again == freshening)
    }

    @Test("Neither the order of fields nor the case of their names matters", arguments: 0..<4)
    func orderAndCase(seed: UInt64) {
        var numbers = SeededGenerator(state: seed &+ 999)
        var storedCount = 0
        for policy in Self.policies {
            for _ in 0..<60 {
                let fields = Self.fields(&numbers)
                let request = HTTPCacheRequest.get(Self.fields(&numbers))
                let otherRequest = HTTPCacheRequest.get(Self.rewritten(request.fields, &numbers))
                let one = policy.storing(fields, to: request)
                let other = policy.storing(Self.rewritten(fields, &numbers), to: otherRequest)
                #expect(one.refusal == other.refusal)
                guard let one = one.stored, let other = other.stored else { continue }
                storedCount += 1
                #expect(one.vary == other.vary && one.variant == other.variant)
                for seconds in [-1.0, 0, 1, 9, 59, 60, 99, 1e6] {
                    let now = noon.addingTimeInterval(seconds)
                    let decisions = [(request, one), (otherRequest, other)].map { asked, stored in
                        policy.decide(asked, with: policy.select(asked, among: [stored]), now: now)
                    }
                    #expect(decisions[0] == decisions[1])
                    #expect(
                        policy.usesStale(one, for: request, after: .noAnswer, now: now)
                            == policy.usesStale(
                                other, for: otherRequest, after: .noAnswer, now: now)
                    )
                }
            }
        }
        #expect(storedCount > 20)
    }

    /// The same fields in another order and with names in other letters. Those of one name stay in their
    /// order, which counts.
    private static func rewritten(_ fields: HTTPFields, _ numbers: inout SeededGenerator)
        -> HTTPFields
    {
        let names = Set(fields.lines.map { $0.name.lowercased() }).sorted()
        var lines: [HTTPFields.Line] = []
        for name in names.shuffled(using: &numbers) {
            for line in fields.lines where line.name.lowercased() == name {
                var letters = ""
                for letter in name {
                    letters += Bool.random(using: &numbers) ? letter.uppercased() : String(letter)
                }
                lines.append(.init(name: letters, value: line.value))
            }
        }
        return HTTPFields(lines)
    }

    /// Texts of the kinds that a careless parser reads again and again. In quadratic time this test
    /// would not end within minutes.
    @Test(
        "A long text is read once, whatever it repeats",
        arguments: [
            ",", "\"", "\\", "a=\"", "a,", "a=\"b\",", "(", "a=(", ";a", "a;a=1,", "0", " ", "\t,",
            "max-age=1 ", "=", "é", "W/", "*,",
        ])
    func long(piece: String) {
        let text = String(repeating: piece, count: (64 << 10) / piece.utf8.count)
        let fields = HTTPFields(Self.names.map { .init(name: $0, value: text) })
        let policy = HTTPCachePolicy.testing(.shared) { $0.targetedFields = ["CDN-Cache-Control"] }
        #expect(policy.storing(fields).refusal == .tooManyFields)
        _ = policy.rules(of: fields)
        _ = VaryKey.names(in: fields)
        _ = VaryKey.canonical(["accept-language", "cookie"], of: fields)
        _ = HTTPDateParser.date(text, now: noon)
        _ = RetryAfter.delay(status: 503, fields: fields, received: noon)
        #expect(ContentRange(of: fields) == nil)
        #expect(StoredResponse.at(noon: fields).condition == nil)
    }

    @Test("Tens of thousands of lines are merged in one go") func manyLines() {
        let lines = (0..<20_000).map { HTTPFields.Line(name: "x\($0)", value: "") }
        let freshening = HTTPCachePolicy.testing().freshen(
            .at(noon: HTTPFields(lines)), with: HTTPFields(lines.reversed()), for: .get(),
            requested: noon, received: noon)
        guard case .useOnce(_, .tooManyFields) = freshening else {
            Issue.record("too many fields to stay")
            return
        }
    }
}
