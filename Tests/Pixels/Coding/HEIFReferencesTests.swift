import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonPixels

/// Files of items that are made of other items; a file has nothing else here.
struct HEIFReferencesTests {
    private func refusal(_ references: [(type: String, from: Int, to: [Int])]) -> String? {
        HEIFReferences(Self.file(references)).refusal
    }

    private static func file(_ references: [(type: String, from: Int, to: [Int])]) -> Data {
        let entries = references.map { reference in
            let ids = reference.to.flatMap { bigEndian($0, 2) }
            let count = bigEndian(reference.to.count, 2)
            return HEIFFixture.box(reference.type, Data(bigEndian(reference.from, 2) + count + ids))
        }.reduce(Data(), +)
        let box = HEIFFixture.box("iref", Data(count: 4) + entries)
        return HEIFFixture.box("meta", Data(count: 4) + box)
    }

    @Test func gridsOfTilesWithOpacityAreReadable() {
        #expect(refusal([]) == nil)
        #expect(
            refusal([("dimg", 1, Array(2...1001)), ("auxl", 2000, [1]), ("thmb", 3000, [1])]) == nil
        )
        #expect(refusal([("dimg", 1, [2, 2]), ("dimg", 2, [3]), ("dimg", 5, [])]) == nil)
    }

    @Test func whatIsMadeOfItselfIsRefused() {
        let words = "a picture of it is made of itself"
        #expect(refusal([("dimg", 1, [1])]) == words)
        #expect(refusal([("dimg", 1, [2, 2]), ("dimg", 2, [3]), ("dimg", 3, [4, 1])]) == words)
        #expect(refusal([("auxl", 2, [1]), ("auxl", 1, [2])]) == words)
        #expect(refusal([("dimg", 2, [1]), ("auxl", 2, [1])]) == words)
    }

    @Test func gridsOfGridsOfGridsAreCounted() {
        let levels = (1...8).map { ("dimg", $0, [Int](repeating: $0 + 1, count: 16)) }
        #expect(refusal(levels) == "a picture of it is made of more than 65536 others")
        #expect(refusal(Array(levels.prefix(3))) == nil)
    }

    /// What goes by lengths does not see the second one, what goes by numbers does.
    @Test func nothingHidesInAReferenceThatIsLongerThanItsItems() {
        var file = Self.file([("thmb", 1, []), ("dimg", 2, [2])])
        #expect(HEIFReferences(file).refusal == "a picture of it is made of itself")
        // The last byte of the length of the first one: 12 bytes, and 14 of the second one.
        file[27] += 14
        #expect(HEIFReferences(file).refusal == "one of its references is not as long as it says")
        let short = Self.file([("dimg", 2, [3])]).dropLast(2)
        #expect(HEIFReferences(Data(short)).refusal != nil)
    }

    @Test func nothingHidesBehindManyOthers() {
        let many = (0..<5000).map { ("thmb", $0 + 2, [1]) }
        #expect(refusal(many + [("dimg", 1, [1])]) == "it has more than 4096 boxes of one kind")
    }
}
