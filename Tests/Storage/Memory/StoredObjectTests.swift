import Foundation
import Testing

@testable import HalcyonStorage

@Suite struct StoredObjectTests {
    private final class Reference: Sendable {}

    @Test func anObjectStaysItself() {
        let reference = Reference()
        let stored = StoredObject.of(reference)
        #expect(ObjectIdentifier(stored) == ObjectIdentifier(reference))
        let value = stored.value(as: Reference.self)
        #expect(value === reference)
    }

    @Test func anObjectIsReleasedWithTheLastOfItsOwners() {
        weak var released: Reference?
        do {
            let reference = Reference()
            released = reference
            let stored = [StoredObject.of(reference), StoredObject.of(reference)]
            #expect(stored.allSatisfy { $0.value(as: Reference.self) === reference })
        }
        #expect(released == nil)
    }

    @Test func valuesComeBackAsTheyWere() {
        #expect(StoredObject.of(7).value(as: Int.self) == 7)
        #expect(StoredObject.of("text").value(as: String.self) == "text")
        #expect(StoredObject.of(Data([1, 2])).value(as: Data.self) == Data([1, 2]))
        #expect(StoredObject.of(Int?.none).value(as: Int?.self) == nil)
        let reference = Reference()
        #expect(StoredObject.of(reference as Reference?).value(as: Reference?.self) === reference)
        #expect(StoredObject.of(Reference?.none).value(as: Reference?.self) == nil)
        let erased = StoredObject.of(reference as any Sendable).value(as: (any Sendable).self)
        #expect(erased as? Reference === reference)
    }
}
