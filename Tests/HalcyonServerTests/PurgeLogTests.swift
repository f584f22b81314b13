import Testing

@testable import HalcyonServer

/// What visits have to know of purges.
@Suite struct PurgeLogTests {
    private let origin = PictureOrigin(
        source: "key", url: "https://example.com/a.png", plan: "w:10")

    @Test func aVisitKnowsOfThePurgesSinceItBegan() {
        var log = PurgeLog()
        log.note(.everything)
        let first = log.begin()
        #expect(!log.hasForgotten(since: first) { $0.matches(origin) })
        log.note(.source("other"))
        #expect(!log.hasForgotten(since: first) { $0.matches(origin) })
        log.note(.source("key"))
        let second = log.begin()
        #expect(log.hasForgotten(since: first) { $0.matches(origin) })
        #expect(!log.hasForgotten(since: second) { $0.matches(origin) })
    }

    @Test func purgesAreRememberedAsLongAsAVisitIsOlder() {
        var log = PurgeLog()
        log.note(.everything)
        #expect(log.length == 0)
        let first = log.begin()
        log.note(.everything)
        let second = log.begin()
        let third = log.begin()
        log.note(.everything)
        #expect(log.length == 2)
        log.end(second)
        #expect(log.length == 2)
        log.end(first)
        #expect(log.length == 1)
        log.end(third)
        #expect(log.length == 0)
    }

    @Test func aPurgeReachesWhatItNames() {
        let table: [(Purge, Bool)] = [
            (.source("key"), true), (.source("ke"), false),
            (.file("https://example.com/a.png"), true), (.file("local:///a.png"), false),
            (.prefix("https://example.com/"), true), (.prefix("https://example.com/b"), false),
            (.plans([PictureOrigin.name(ofPlan: "w:10")], source: "key"), true),
            (.plans([PictureOrigin.name(ofPlan: "w:11")], source: "key"), false),
            (.plans([PictureOrigin.name(ofPlan: "w:10")], source: "other"), false),
            (.everything, true),
        ]
        for (purge, reaches) in table {
            #expect(purge.matches(origin) == reaches, "\(purge)")
            #expect(!purge.message.contains(" "))
            #expect(Purge(message: purge.message) == purge)
        }
        for message in ["", "later:x", "prefix:", "everything"] {
            let purge = Purge(message: message)
            #expect(purge == nil || purge == .source(message))
        }
        #expect(Purge(message: Purge.prefix("local:///a b ä").message) == .prefix("local:///a b ä"))
    }

    @Test func hitsAreCountedByMinutes() {
        var window = HitWindow()
        #expect(window.share(seconds: 60, before: 0) == nil)
        window.note(isHit: true, second: 5)
        window.note(isHit: false, second: 400)
        #expect(window.share(seconds: 60, before: 10) == 1)
        #expect(window.share(seconds: 60, before: 410) == 0)
        #expect(window.share(seconds: 900, before: 410) == 0.5)
        #expect(window.share(seconds: 900, before: 2000) == nil)
        // The place of an old step is taken by a new one.
        window.note(isHit: true, second: 915)
        #expect(window.share(seconds: 900, before: 915) == 0.5)
    }
}
