import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonStorage

/// What the index keeps of responses, and of the files that were made of them.
@Suite struct ResponseTableTests {
    let fixture: ResponseFixture
    var store: CacheDirectory { fixture.store }

    init() throws { fixture = try ResponseFixture() }

    // MARK: Origins

    @Test func aResponseAndItsFileAreFoundAgain() throws {
        var row = fixture.row("cat", generation: 81)
        (row.bodyChecksum, row.isInvalidated) = (-5, true)
        try fixture.put("small cat", as: "cat@small", of: row)
        let origin = FileOrigin(derivation: fixture.derivation(row), response: row)
        for store in [store, fixture.makeStore()] {
            #expect(try fixture.origin("cat@small", in: store) == origin)
            #expect(try store.responses(forKey: "cat") == [row])
            let all = try store.allResponses()
            #expect(all.map(\.row) == [row])
            #expect(all.map(\.files) == [[store.fileName(forKey: "cat@small")]])
            #expect(try fixture.text("cat@small", in: store) == "small cat")
        }
    }

    @Test func theOriginOfAFileIsAResponseTheProgramOrUnknown() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.write(
            "cat", as: "cat", made: fixture.derivation(row, isOriginal: true),
            with: ResponsePut(row: row))
        try fixture.write("dog", as: "dog", made: .program)
        try fixture.write("cow", as: "cow")
        for store in [store, fixture.makeStore()] {
            let cat = try fixture.origin("cat", in: store)
            #expect(cat?.derivation == fixture.derivation(row, isOriginal: true))
            #expect(try fixture.origin("dog", in: store)?.derivation == .program)
            #expect(
                try fixture.origin("cow", in: store) == FileOrigin(derivation: nil, response: nil))
            #expect(try fixture.origin("hen", in: store) == nil)
        }
    }

    @Test func nothingIsKnownOfAFileThatHasExpired() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row, expiration: .seconds(60))
        let other = fixture.makeStore()
        fixture.advance(59)
        for store in [store, other] { #expect(try fixture.origin("cat", in: store) != nil) }
        fixture.advance(1)
        for store in [store, other] { #expect(try fixture.origin("cat", in: store) == nil) }
    }

    @Test func anAccessThatIsNotWrittenYetKeepsAFile() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row, expiration: .seconds(60))
        fixture.advance(59)
        let name = store.fileName(forKey: "cat")
        let text = try store.value(
            of: name, forKey: "cat", extending: .expirationTime(.seconds(60))
        ) { String(decoding: $0, as: UTF8.self) }
        #expect(text == "cat")
        fixture.advance(59)
        #expect(try fixture.origin("cat")?.response == row)
    }

    @Test func aFurtherFileIsLinkedToTheResponseThatIsThere() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: row)
        try fixture.write("large", as: "cat@large", made: fixture.derivation(row))
        #expect(try fixture.origin("cat@large")?.response == row)
        #expect(try store.allResponses().map(\.files.count) == [2])
        try fixture.write(
            "dog", as: "dog", made: fixture.derivation(fixture.row("dog", generation: 5)))
        #expect(try fixture.origin("dog")?.derivation == nil, "its response is not known")
        #expect(try fixture.text("dog") == "dog")
    }

    @Test func whatIsSaidOfAFileDoesNotHoldForAnother() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: row)
        try fixture.put("large", as: "cat@large", of: row)
        try fixture.overwrite("cat@small", with: "mouse")
        for store in [store, fixture.makeStore()] {
            #expect(try fixture.text("cat@small", in: store) == "mouse")
            #expect(try fixture.origin("cat@small", in: store)?.derivation == nil)
        }
        #expect(try store.allResponses().map(\.files.count) == [1])
        // Even where the statement is left.
        try fixture.change("UPDATE derivations SET checksum = 7")
        let other = fixture.makeStore()
        #expect(try fixture.origin("cat@large", in: other)?.derivation == nil)
        #expect(try other.allResponses().map(\.files.count) == [0])
    }

    @Test func aFileStoredWithoutAResponseIsOfNone() throws {
        try fixture.put("cat", as: "cat", of: fixture.row("cat", generation: 81))
        try fixture.write("another", as: "cat")
        #expect(try fixture.origin("cat")?.derivation == nil)
        #expect(try fixture.responses() == [], "nothing was made of it any more")
    }

    // MARK: Generations

    @Test func aNewGenerationRemovesTheFilesOfTheFormerOne() throws {
        let old = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: old)
        try fixture.put("large", as: "cat@large", of: old)
        try fixture.put("dog", as: "dog", of: fixture.row("dog", generation: 5))
        let other = fixture.makeStore()
        #expect(try fixture.text("cat@large", in: other) == "large")
        let new = fixture.row("cat", generation: 97, received: 1)
        fixture.advance(1)
        try fixture.put("small", as: "cat@small", of: new)
        for store in [store, other, fixture.makeStore()] {
            #expect(try fixture.origin("cat@small", in: store)?.response == new)
            #expect(
                try fixture.origin("cat@small", in: store)?.derivation == fixture.derivation(new))
            #expect(try fixture.text("cat@large", in: store) == nil)
            #expect(try fixture.text("dog", in: store) == "dog")
            #expect(try fixture.responses(in: store) == ["cat 97", "dog 5"])
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: store.url.path)
        #expect(!names.contains(store.fileName(forKey: "cat@large")))
    }

    @Test func theSameGenerationKeepsItsFiles() throws {
        try fixture.put("small", as: "cat@small", of: fixture.row("cat", generation: 81))
        let later = fixture.row("cat", generation: 81, received: 5)
        try fixture.put("large", as: "cat@large", of: later)
        #expect(try fixture.text("cat@small") == "small")
        #expect(try fixture.origin("cat@small")?.response == later)
    }

    @Test func anOvertakenAnswerIsNotStored() throws {
        fixture.advance(10)
        let new = fixture.row("cat", generation: 97, received: 2)
        try fixture.put("new", as: "cat", of: new)
        let old = fixture.row("cat", generation: 81, received: 1)
        try fixture.put("old", as: "cat", of: old)
        try fixture.put("old", as: "cat@small", of: old)
        #expect(try fixture.text("cat") == "new" && fixture.text("cat@small") == nil)
        #expect(try fixture.responses() == ["cat 97"])
        // Nor is what was made of a generation that is no longer there.
        try fixture.write("old", as: "cat@large", made: fixture.derivation(old))
        #expect(try fixture.text("cat@large") == nil)
        try store.put(ResponsePut(row: fixture.row("cat", generation: 0, received: 1)))
        #expect(try fixture.responses() == ["cat 97"])
        let names = try FileManager.default.contentsOfDirectory(atPath: store.url.path)
        #expect(!names.contains { TemporaryFile.isName($0) })
    }

    @Test func anOlderAnswerOfTheSameContentKeepsWhatIsKnownSince() throws {
        fixture.advance(10)
        let new = fixture.row("cat", generation: 81, received: 2)
        try fixture.put("small", as: "cat@small", of: new)
        try fixture.put(
            "large", as: "cat@large", of: fixture.row("cat", generation: 81, received: 1))
        #expect(try fixture.origin("cat@large")?.response == new)
    }

    @Test func aResponseFromTheFutureOvertakesNothing() throws {
        try fixture.put("wrong", as: "cat", of: fixture.row("cat", generation: 97, received: 9999))
        let row = fixture.row("cat", generation: 81)
        try fixture.put("right", as: "cat", of: row)
        #expect(try fixture.text("cat") == "right" && fixture.origin("cat")?.response == row)
    }

    @Test func supersededVariantsGoWithTheirFiles() throws {
        let variants = ["a", "b", "c"].map { fixture.row("cat", generation: 7, variant: $0) }
        for row in variants {
            try fixture.put("of \(row.variant)", as: "cat@\(row.variant.hashValue)", of: row)
        }
        try fixture.put(
            "all", as: "cat", of: fixture.row("cat", generation: 8), superseded: ["a", "c", "x"])
        #expect(Set(try store.responses(forKey: "cat").map(\.variant)) == [Data(), Data("b".utf8)])
        #expect(try fixture.text("cat") == "all")
        #expect(try store.entries().count == 2)
    }

    @Test func aFileThatTurnsToAnotherVariantTakesTheFormerOneAlong() throws {
        try fixture.put("de", as: "cat", of: fixture.row("cat", generation: 7, variant: "de"))
        let row = fixture.row("cat", generation: 8, variant: "en")
        try fixture.put("en", as: "cat", of: row)
        #expect(try store.responses(forKey: "cat") == [row])
        #expect(try fixture.text("cat") == "en")
    }

    // MARK: How responses go

    @Test(arguments: ["removed", "expired", "evicted", "lost", "damaged", "wiped"])
    func aResponseGoesWithItsLastFile(way: String) throws {
        let row = fixture.row("cat", generation: 81)
        for name in ["cat@small", "cat@large"] {
            try fixture.put(name, as: name, of: row, expiration: .seconds(60))
        }
        try store.put(ResponsePut(row: fixture.row("old", generation: 0)))
        func lose(_ name: String) throws {
            let file = store.url(of: store.fileName(forKey: name))
            switch way {
            case "removed": try store.remove(file.lastPathComponent)
            case "lost": try FileManager.default.removeItem(at: file)
            case "damaged": try Data("dam@cats!".utf8).write(to: file)
            default: break
            }
            _ = try fixture.text(name)
        }
        try lose("cat@small")
        if ["removed", "damaged"].contains(way) {
            #expect(try store.allResponses().map(\.files.count).reduce(0, +) == 1)
        }
        try lose("cat@large")
        switch way {
        case "expired": fixture.advance(100)
        case "evicted":
            store.config.sizeLimit = 1
            _ = try store.removeExceeding()
        case "wiped":
            fixture.advance(50)
            store.config.wipesWhenUnusedFor = 10
        default: break
        }
        _ = try store.removeExpired()
        #expect(try store.entries().isEmpty)
        #expect(try fixture.responses() == (way == "wiped" ? [] : ["old 0"]))
    }

    @Test func aResponseIsRemovedWithItsFiles() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: row)
        try fixture.put("large", as: "cat@large", of: row)
        try fixture.put("dog", as: "dog", of: fixture.row("dog", generation: 5))
        try store.removeResponse(key: "cat", variant: Data("x".utf8))
        try store.removeResponse(key: "cat", variant: Data())
        #expect(try fixture.responses() == ["dog 5"])
        #expect(try store.entries().map(\.key) == ["dog"])
    }

    @Test func everythingIsRemovedWithTheFiles() throws {
        try fixture.put("cat", as: "cat", of: fixture.row("cat", generation: 81))
        try store.put(ResponsePut(row: fixture.row("old", generation: 0)))
        store.noteUse(ofResponse: "old", variant: Data())
        _ = try store.removeAll()
        #expect(try fixture.responses() == [])
        #expect(try store.responses(forKey: "cat") == [])
    }

    @Test func aResponseWithoutContentNeedsNoFileAndTakesThoseOfContent() throws {
        try fixture.put("cat", as: "cat", of: fixture.row("cat", generation: 81))
        let gone = fixture.row("cat", generation: 0, received: 1)
        try store.put(ResponsePut(row: gone))
        #expect(try fixture.text("cat") == nil)
        #expect(try store.responses(forKey: "cat") == [gone])
        try store.put(ResponsePut(row: fixture.row("dog", generation: 5)))
        #expect(try store.responses(forKey: "dog") == [], "content of which there is no file")
    }

    @Test func aResponseMayBeTheFirstInItsFolder() throws {
        let config = DiskStorage.Config(name: "new", sizeLimit: 0, directory: fixture.folder.url)
        let store = CacheDirectory(config: config, now: { Date() })
        #expect(try store.responses(forKey: "old") == [])
        #expect(!FileManager.default.fileExists(atPath: store.url.path))
        let row = fixture.row("old", generation: 0)
        try store.put(ResponsePut(row: row))
        #expect(try store.responses(forKey: "old") == [row])
    }

    @Test func theLimitsHold() throws {
        var limits = IndexTransaction.ResponseLimits()
        (limits.all, limits.withoutContent, limits.variants, limits.step) = (12, 5, 3, 2)
        try store.withIndex(validated: true) { index in
            try index.write { transaction in
                for number in 0..<40 {
                    var row = fixture.row(
                        "\(number)", generation: Int64(number % 3), received: Double(number))
                    if number % 6 == 0 { row.status = 404 }
                    let id = IndexLog.ResponseID(key: row.key, variant: row.variant)
                    let added = try transaction.insert(row)
                    try transaction.trimResponses(after: added, of: id, limits: limits)
                    let kept = try transaction.responseNumbers { _, _ in true }
                        .compactMap { try transaction.response($0)?.row }
                    #expect(kept.count <= 12)
                    #expect(kept.filter { $0.status == 404 }.count <= 5)
                    #expect(kept.filter { $0.status == 301 }.count <= 5)
                    #expect(kept.first == row, "the new one stays")
                }
                for number in 0..<6 {
                    let row = fixture.row(
                        "variants", generation: 9, received: Double(100 + number),
                        variant: "\(number)")
                    let id = IndexLog.ResponseID(key: row.key, variant: row.variant)
                    let added = try transaction.insert(row)
                    try transaction.trimResponses(after: added, of: id, limits: limits)
                }
                let variants = try transaction.responses(forKey: "variants").map(\.variant)
                #expect(Set(variants) == Set(["3", "4", "5"].map { Data($0.utf8) }))
            }
        }
    }

    // MARK: Changes

    @Test func aValidationReplacesTheRowAndNothingElse() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: row)
        var fresh = fixture.row("cat", generation: 81, received: 9)
        fresh.fields = Data("[]".utf8)
        #expect(try store.freshen(fresh, from: Data()))
        #expect(try fixture.origin("cat@small")?.response == fresh)
        fixture.advance(20)
        #expect(try store.freshen(row, from: Data()), "somebody else came later")
        #expect(try store.responses(forKey: "cat") == [fresh])
        #expect(try !store.freshen(fixture.row("cat", generation: 97), from: Data()))
        #expect(try !store.freshen(fixture.row("dog", generation: 81), from: Data()))
        #expect(try store.responses(forKey: "cat") == [fresh])
    }

    @Test func aValidationMayChangeTheVariant() throws {
        try fixture.put("any", as: "cat", of: fixture.row("cat", generation: 81))
        try fixture.put("de", as: "cat@de", of: fixture.row("cat", generation: 7, variant: "de"))
        let fresh = fixture.row("cat", generation: 81, received: 9, variant: "de")
        #expect(try store.freshen(fresh, from: Data()) && store.responses(forKey: "cat") == [fresh])
        for store in [store, fixture.makeStore()] {
            let origin = try fixture.origin("cat", in: store)
            #expect(origin?.derivation == fixture.derivation(fresh) && origin?.response == fresh)
            #expect(try fixture.text("cat@de", in: store) == nil)
        }
    }

    @Test func responsesAreInvalidatedByKeyOrURL() throws {
        for (number, key) in ["cat", "dog", "cow"].enumerated() {
            try fixture.put(key, as: key, of: fixture.row(key, generation: Int64(number + 1)))
        }
        let count = try store.invalidateResponses { key, url in
            key == "cat" || url == "https://host/dog"
        }
        #expect(count == 2)
        let invalidated = try store.allResponses().map(\.row).filter(\.isInvalidated).map(\.key)
        #expect(invalidated == ["cat", "dog"])
        #expect(try fixture.text("cat") == "cat")
        #expect(try store.invalidateResponses { _, _ in false } == 0)
    }

    @Test func filesAreRemovedByWhatTheyWereMadeOf() throws {
        for (number, key) in ["cat", "dog", "cow"].enumerated() {
            let row = fixture.row(key, generation: Int64(number + 1))
            try fixture.put(key, as: key, of: row)
            try fixture.write("small", as: "small \(key)", made: fixture.derivation(row))
        }
        try fixture.write("hen", as: "small hen")
        var asked: Set<String> = []
        let some = try store.removeFiles(
            ofResponsesWhere: { key, url in key == "cat" || url == "https://host/dog" },
            where: { name in
                asked.insert(name)
                return name.hasPrefix("small")
            })
        #expect(some == (2, 2))
        #expect(asked == ["cat", "dog", "small cat", "small dog"])
        #expect(try fixture.text("small cat") == nil && fixture.text("cat") == "cat")
        #expect(try fixture.responses().sorted() == ["cat 1", "cow 3", "dog 2"])
        // A response goes with the last of its files.
        #expect(try store.removeFiles(ofResponsesWhere: { key, _ in key != "dog" }) == (2, 3))
        #expect(try fixture.responses() == ["dog 2"] && fixture.text("small hen") == "hen")
        #expect(try store.removeFiles(ofResponsesWhere: { _, _ in false }) == (0, 0))
    }

    @Test func aUseIsWrittenWithTheNextAccesses() throws {
        for key in ["cat", "dog"] {
            try store.put(ResponsePut(row: fixture.row(key, generation: 0)))
        }
        #expect(try fixture.responses() == ["cat 0", "dog 0"])
        // Opened before, as accesses are written by themselves after some seconds.
        let other = fixture.makeStore()
        #expect(try fixture.responses(in: other) == ["cat 0", "dog 0"])
        fixture.advance(10)
        store.noteUse(ofResponse: "dog", variant: Data())
        store.noteUse(ofResponse: "hen", variant: Data())
        #expect(try other.allResponses().first?.row.key == "cat", "not yet")
        store.flushAccesses()
        let all = try fixture.makeStore().allResponses().map(\.row)
        #expect(all.map(\.key) == ["dog", "cat"] && all.first?.used == 1_700_000_010)
    }

    @Test func whatIsTooLongIsNotKept() throws {
        var row = fixture.row("cat", generation: 81)
        row.fields = Data(repeating: 0x20, count: 1 << 20 + 1)
        try fixture.put("cat", as: "cat", of: row)
        #expect(try fixture.text("cat") == "cat" && fixture.origin("cat")?.derivation == nil)
        #expect(try store.allResponses().isEmpty && !store.freshen(row, from: Data()))
    }
}
