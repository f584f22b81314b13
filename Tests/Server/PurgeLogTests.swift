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

    @Test func aPurgeMarksWhatIsReadForAllThatItReaches() {
        let urls = [
            "https://example.com/a.png", "https://example.com/2024/05/a.png?size=/x/",
            "https://example.com:8443/a.png", "local:///2024/a.png", "local:///a.png", "",
            "https://example.com/" + String(repeating: "a/", count: 20) + "b.png",
        ]
        let origins = urls.enumerated().flatMap { number, url in
            ["w:10", "w:20"].map { PictureOrigin(source: "key\(number)", url: url, plan: $0) }
        }
        var purges: [Purge] = [.everything]
        for origin in origins {
            purges.append(.source(origin.source))
            purges.append(.plans([origin.planName, "other"], source: origin.source))
            if origin.url.hasPrefix("local:") { purges.append(.file(origin.url)) }
            for length in 1..<max(2, origin.url.count) where !origin.url.isEmpty {
                purges.append(.prefix(String(origin.url.prefix(length))))
            }
        }
        for purge in purges {
            let marks = Set(PurgeMarks.names(of: purge))
            for origin in origins {
                if case .source = purge, origin.url.hasPrefix("local:") { continue }
                let source = PurgeMarks.names(forSource: origin.source, url: origin.url)
                for (isMeant, names) in [
                    (purge.matches(origin), PurgeMarks.names(for: origin)),
                    (purge.matches(source: origin.source, url: origin.url), source),
                ] where isMeant { #expect(!marks.isDisjoint(with: names), "\(purge), \(origin)") }
            }
        }
    }

    @Test(arguments: [
        (Purge.source("other"), false), (.file("https://example.com/2024/a.png"), false),
        (.prefix("https://example.com/2025/"), false), (.prefix("https://example.org/"), false),
        (.plans([PictureOrigin.name(ofPlan: "w:11")], source: "key"), false),
        (.plans([PictureOrigin.name(ofPlan: "w:10")], source: "other"), false),
        // The innermost folder around it.
        (.prefix("https://example.com/2024/b"), true), (.prefix("https://example.com/20"), true),
        (.prefix("https://example.com:80"), true), (.prefix("https://exam"), true),
    ])
    func aPurgeOfOtherThingsMarksThemOnly(purge: Purge, isMarked: Bool) {
        let origin = PictureOrigin(
            source: "key", url: "https://example.com/2024/a.png", plan: "w:10")
        let marks = Set(PurgeMarks.names(of: purge))
        #expect(marks.isDisjoint(with: PurgeMarks.names(for: origin)) != isMarked)
    }

    @Test func theMarksOfAPictureAreFew() {
        let url = "https://example.com/" + String(repeating: "a/", count: 1000)
        let origin = PictureOrigin(source: "key", url: url, plan: "w:10")
        let names = PurgeMarks.names(for: origin)
        #expect(names.count == 11)
        #expect(names.allSatisfy { $0.utf8.count < 80 })
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
