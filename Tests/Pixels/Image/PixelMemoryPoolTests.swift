import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct PixelMemoryPoolTests {
    private let pool = PixelMemoryPool(limit: 20_000_000)

    /// The address of memory that is given back at once.
    private func use(_ count: Int) throws -> UnsafeMutableRawPointer {
        let memory = try #require(pool.memory(count: count))
        #expect(memory.count == count)
        // All of it can be written.
        memory.pointer.storeBytes(of: 1, as: UInt8.self)
        memory.pointer.storeBytes(of: 1, toByteOffset: count - 1, as: UInt8.self)
        return memory.pointer
    }

    @Test func handsOutWhatWasGivenBack() throws {
        let first = try use(6_000_000)
        #expect(pool.waitingCount >= 6_000_000)
        #expect(try use(5_000_000) == first)
    }

    @Test func givesEachUserMemoryOfItsOwn() throws {
        let first = try #require(pool.memory(count: 6_000_000))
        let second = try #require(pool.memory(count: 6_000_000))
        #expect(first.pointer != second.pointer)
        #expect(pool.waitingCount == 0)
    }

    @Test func leavesSmallBlocksToTheAllocator() {
        #expect(pool.memory(count: PixelMemoryPool.leastCount - 1) == nil)
    }

    @Test func takesNoBlockThatIsMuchTooLarge() throws {
        let large = try use(12_000_000)
        let small = try use(5_000_000)
        #expect(large != small)
    }

    @Test func keepsNoMoreThanItsLimit() throws {
        do {
            let blocks = try (0..<4).map { _ in try #require(pool.memory(count: 6_000_000)) }
            #expect(blocks.count == 4)
        }
        #expect(pool.waitingCount <= 20_000_000 && pool.waitingCount >= 12_000_000)
        _ = try use(30_000_000)
        #expect(pool.waitingCount <= 20_000_000)
    }

    @Test func keepsTheLatestOfManySmallBlocks() throws {
        var addresses: [UnsafeMutableRawPointer] = []
        do {
            let blocks = try (0..<100).map { _ in
                try #require(pool.memory(count: PixelMemoryPool.leastCount))
            }
            addresses = blocks.map(\.pointer)
        }
        #expect(pool.waitingCount < 100 * PixelMemoryPool.leastCount)
        #expect(addresses.contains(try use(PixelMemoryPool.leastCount)))
    }
}
