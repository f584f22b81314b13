import Foundation
import GRDB
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonStorage

/// Indexes of former versions, of others and of several processes.
@Suite struct ResponseIndexTests {
    let fixture: ResponseFixture
    var store: CacheDirectory { fixture.store }

    init() throws { fixture = try ResponseFixture() }

    private func makeFormer() throws {
        try fixture.write("cat", as: "cat")
        try fixture.write("dog", as: "dog", expiration: .days(3))
        try fixture.change(
            "DROP TRIGGER derived_file_changed", "DROP TRIGGER derived_file_removed",
            "DROP TABLE derivations", "DROP TABLE responses")
    }

    @Test func anIndexOfTheFormerVersionIsKept() throws {
        try makeFormer()
        let before = try store.entries()
        let other = fixture.makeStore()
        #expect(try other.entries() == before)
        #expect(before.map(\.key) == ["cat", "dog"])
        #expect(try fixture.origin("cat", in: other) == FileOrigin(derivation: nil, response: nil))
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row, in: other)
        let third = fixture.makeStore()
        #expect(try fixture.origin("cat", in: third)?.response == row)
        #expect(try fixture.text("dog", in: third) == "dog")
    }

    @Test func responsesInAnIndexOfANewerVersionAreKept() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row)
        try fixture.change(
            "ALTER TABLE responses ADD COLUMN more TEXT",
            "ALTER TABLE derivations ADD COLUMN weight REAL NOT NULL DEFAULT 1.5",
            "CREATE INDEX responses_by_url ON responses (url)",
            "CREATE TABLE counts (number INTEGER)",
            """
            CREATE TRIGGER response_counted AFTER INSERT ON responses BEGIN
                INSERT INTO counts VALUES (NEW.id);
            END
            """,
            "UPDATE responses SET more = 'of a newer one'", "PRAGMA user_version = 3")
        let other = fixture.makeStore()
        #expect(try fixture.origin("cat", in: other)?.response == row)
        #expect(try other.responses(forKey: "cat") == [row])
        let next = fixture.row("dog", generation: 97)
        try fixture.put("dog", as: "dog", of: next, in: other)
        #expect(try fixture.responses(in: fixture.makeStore()) == ["cat 81", "dog 97"])
        #expect(try fixture.column("SELECT CAST(count(*) AS TEXT) FROM counts", in: other) == ["1"])
        let more = try fixture.column("SELECT more FROM responses ORDER BY id", in: other)
        #expect(more == ["of a newer one", nil])
    }

    @Test func responsesOfANewerVersionThatAreNotUnderstoodAreLeftAloneAndFilesUsed() throws {
        try fixture.put("cat", as: "cat", of: fixture.row("cat", generation: 81))
        try fixture.change(
            "ALTER TABLE responses RENAME COLUMN fields TO head", "PRAGMA user_version = 3")
        let other = fixture.makeStore()
        #expect(try other.entries().map(\.key) == ["cat"])
        #expect(try fixture.responses(in: other) == [])
        #expect(try fixture.origin("cat", in: other)?.derivation == nil)
        try fixture.put("dog", as: "dog", of: fixture.row("dog", generation: 97), in: other)
        #expect(try fixture.text("dog", in: other) == "dog")
        #expect(
            try fixture.column("SELECT CAST(count(*) AS TEXT) FROM responses", in: other) == ["1"])
    }

    @Test func responsesAreHandedOnOneByOneUntilSomebodyHasEnough() throws {
        for number in 0..<20 {
            var row = fixture.row("key \(number)", generation: 81 + Int64(number))
            row.used -= Double(number)
            try fixture.put("text", as: "name \(number)", of: row)
        }
        struct Enough: Error {}
        var seen: [String] = []
        #expect(throws: Enough.self) {
            try store.forEachResponse { row, files in
                #expect(files.count == 1)
                seen.append(row.key)
                // What has gone meanwhile is not told of.
                if seen.count == 2 { try store.removeResponse(key: "key 9", variant: Data()) }
                if seen.count == 12 { throw Enough() }
            }
        }
        #expect(seen == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12].map { "key \($0)" })
        seen = []
        try store.forEachResponse(where: { key, _ in key.hasSuffix("7") }) { row, _ in
            seen.append(row.key)
        }
        #expect(seen == ["key 7", "key 17"])
    }

    @Test(arguments: [
        "DROP TRIGGER response_removed", "ALTER TABLE responses ADD COLUMN more",
        "DROP TABLE derivations", "CREATE VIEW more AS SELECT 1",
    ])
    func anIndexWithOtherTablesIsMadeAgain(change: String) throws {
        try fixture.put("cat", as: "cat", of: fixture.row("cat", generation: 81))
        try fixture.change(change)
        let other = fixture.makeStore()
        #expect(try fixture.text("cat", in: other) == "cat")
        #expect(try fixture.origin("cat", in: other)?.derivation == nil, "of a lost index")
        #expect(try fixture.responses(in: other) == [] && fixture.text("cat") == "cat")
    }

    @Test(arguments: [
        "UPDATE responses SET key = x'00'", "UPDATE responses SET key = ''",
        "UPDATE responses SET key = 'a' || char(0)", "UPDATE responses SET variant = 'text'",
        "UPDATE responses SET variant = zeroblob(65)", "UPDATE responses SET vary = x'80'",
        "UPDATE responses SET url = x'80'", "UPDATE responses SET status = 'ok'",
        "UPDATE responses SET status = -1", "UPDATE responses SET status = 1000",
        "UPDATE responses SET fields = 'text'", "UPDATE responses SET fields = 5",
        "UPDATE responses SET fields = zeroblob(1048577)",
        "UPDATE responses SET requested = 'x'", "UPDATE responses SET received = x'00'",
        "UPDATE responses SET received = 9e999, fresh_until = -9e999, used = 1e308",
        "UPDATE responses SET generation = -1", "UPDATE responses SET generation = 0.5",
        "UPDATE responses SET generation = 'x'", "UPDATE responses SET body_length = -1",
        "UPDATE responses SET body_checksum = x'00'", "UPDATE responses SET invalidated = 'x'",
        "UPDATE responses SET used = 'x'", "UPDATE responses SET id = 9223372036854775807",
        "UPDATE derivations SET origin = 3", "UPDATE derivations SET origin = 'x'",
        "UPDATE derivations SET origin = 2", "UPDATE derivations SET response = NULL",
        "UPDATE derivations SET response = 99", "UPDATE derivations SET response = x'00'",
        "UPDATE derivations SET generation = NULL", "UPDATE derivations SET generation = 'x'",
        "UPDATE derivations SET checksum = NULL", "UPDATE derivations SET is_original = 'x'",
        "INSERT INTO derivations VALUES ('../x', 1, 1, 1, 1, 1)",
        "DELETE FROM derivations", "DELETE FROM responses", "DROP TABLE derivations",
        "DROP TABLE responses",
        """
        INSERT INTO responses SELECT id + 1, key || 'x', variant, vary, url, status, requested,
            received, generation, body_length, body_checksum, fresh_until, invalidated, used, fields
        FROM responses
        """,
    ])
    func rowsThatMakeNoSenseHarmNothing(statement: String) throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("small", as: "cat@small", of: row)
        try fixture.write("large", as: "cat@large", made: fixture.derivation(row))
        try fixture.change(statement)
        for store in [store, fixture.makeStore()] {
            for (name, text) in [("cat@small", "small"), ("cat@large", "large")] {
                let origin = try fixture.origin(name, in: store)
                if case .response(_, _, let generation, _) = origin?.derivation {
                    #expect(generation == 81 || statement.contains("generation"))
                }
                let found = try fixture.text(name, in: store)
                #expect(found == nil || found == text)
            }
            _ = try store.allResponses()
            _ = try store.responses(forKey: "cat")
            _ = try store.freshen(fixture.row("cat", generation: 81, received: 1), from: Data())
            _ = try store.invalidateResponses { _, _ in true }
            try store.removeResponse(key: "catx", variant: Data())
            _ = try store.removeExpired()
            let new = fixture.row("cat", generation: 97, received: 2)
            try fixture.put("new", as: "cat", of: new, in: store)
            try store.removeResponse(key: "cat", variant: Data())
            try fixture.put("new", as: "cat", of: new, in: store)
            #expect(try fixture.origin("cat", in: fixture.makeStore())?.response == new)
        }
    }

    @Test func aFileOfOthersIsNotRemovedWhateverTheIndexSays() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row)
        let precious = store.url.appendingPathComponent("precious.txt")
        try Data("dear".utf8).write(to: precious)
        let checksum = DiskFile.checksum(Data("dear".utf8))
        try fixture.change(
            "INSERT INTO files VALUES ('precious.txt', NULL, 4, \(checksum), 4e9, 1.0, NULL)")
        try fixture.change(
            """
            INSERT INTO derivations SELECT 'precious.txt', \(checksum), 1, response, 5, 0
            FROM derivations
            """)
        try fixture.put("new", as: "cat", of: fixture.row("cat", generation: 97, received: 1))
        try store.removeResponse(key: "cat", variant: Data())
        #expect(try Data(contentsOf: precious) == Data("dear".utf8))
        #expect(try fixture.responses() == [])
    }

    // MARK: Several at one folder

    @Test func whatAnotherProcessDoesIsSeenAtOnce() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row)
        let other = fixture.makeStore()
        #expect(try fixture.text("cat", in: other) == "cat")
        #expect(try fixture.origin("cat", in: other)?.response == row)
        let fresh = fixture.row("cat", generation: 81, received: 5)
        #expect(try other.freshen(fresh, from: Data()))
        #expect(try fixture.origin("cat")?.response == fresh)
        fixture.advance(10)
        let new = fixture.row("cat", generation: 97, received: 9)
        try fixture.put("new cat", as: "cat", of: new, in: other)
        #expect(
            try fixture.origin("cat")
                == FileOrigin(derivation: fixture.derivation(new), response: new))
        #expect(try fixture.text("cat") == "new cat")
        #expect(try !store.freshen(fresh, from: Data()))
        try other.removeResponse(key: "cat", variant: Data())
        #expect(try fixture.origin("cat") == nil)
        try fixture.write("cat", as: "cat", made: .program, in: other)
        #expect(try fixture.origin("cat")?.derivation == .program)
        _ = try other.removeAll()
        #expect(try fixture.origin("cat") == nil)
    }

    @Test func manyStoresAtOnceLeaveNoWrongLink() async throws {
        fixture.advance(1000)
        let stores = [store, fixture.makeStore()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...120 {
                group.addTask { [fixture] in
                    let key = "\(number % 3)"
                    let row = fixture.row(key, generation: Int64(number), received: Double(number))
                    // Names a file by the generation it is made of.
                    try fixture.put(
                        "\(number)", as: "\(key)@\(number % 2)", of: row,
                        in: stores[number % stores.count])
                }
            }
            try await group.waitForAll()
        }
        let all = try fixture.makeStore().allResponses()
        #expect(Set(all.map(\.row.key)) == ["0", "1", "2"])
        #expect(Set(all.map(\.row.generation)) == [118, 119, 120], "the latest of each")
        for key in ["0", "1", "2"] {
            for number in 0..<2 {
                let name = "\(key)@\(number)"
                guard let text = try fixture.text(name) else { continue }
                let origin = try fixture.origin(name)
                guard case .response(key, _, let generation, _) = origin?.derivation else {
                    Issue.record("\(name) is of \(String(describing: origin))")
                    continue
                }
                #expect(text == "\(generation)")
                #expect(origin?.response?.generation == generation)
            }
        }
    }

    @Test func aStoreThatDoesNotWaitForOthersWaitsForItself() async throws {
        let store = fixture.makeStore(patience: .zero)
        let cat = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: cat, in: store)
        let isOver = Locked(false)
        async let unknown = DiskLane.reading.run {
            var count = 0
            while !isOver.value {
                if try store.responses(forKey: "cat") != [cat] { count += 1 }
            }
            return count
        }
        for number in 1...300 {
            let dog = fixture.row("dog", generation: 0, received: Double(number))
            try await DiskLane.writing.run { try store.put(ResponsePut(row: dog)) }
            #expect(try store.responses(forKey: "dog") == [dog])
        }
        isOver.set(true)
        #expect(try await unknown == 0)
    }

    @Test func whileTheIndexIsLockedNothingIsKnownAndNothingChanges() throws {
        let row = fixture.row("cat", generation: 81)
        try fixture.put("cat", as: "cat", of: row)
        let path = store.url.appendingPathComponent(DiskIndex.fileName).path
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let locked = fixture.makeStore(patience: .milliseconds(50))
        #expect(try locked.responses(forKey: "cat") == [] && locked.allResponses().isEmpty)
        #expect(try fixture.origin("cat", in: locked) == nil)
        try locked.put(ResponsePut(row: fixture.row("dog", generation: 0)))
        #expect(try !locked.freshen(fixture.row("cat", generation: 81, received: 1), from: Data()))
        try locked.removeResponse(key: "cat", variant: Data())
        #expect(try locked.invalidateResponses { _, _ in true } == 0)
        try fixture.put("hen", as: "hen", of: fixture.row("hen", generation: 3), in: locked)
        #expect(try fixture.text("hen", in: locked) == "hen")
        #expect(try fixture.origin("hen", in: locked) == FileOrigin(derivation: nil, response: nil))
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        locked.flushAccesses()
        #expect(try fixture.responses() == ["cat 81"])
        #expect(try fixture.origin("cat", in: locked)?.response == row)
        #expect(try fixture.origin("hen")?.derivation == nil)
    }
}
