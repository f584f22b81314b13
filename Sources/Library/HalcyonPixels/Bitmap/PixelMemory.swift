import Foundation
import Synchronization

/// A block of pixel memory, freed with its last user.
final class PixelMemory: @unchecked Sendable {
    // Unchecked because of the raw pointer; the memory is written only before it is shared.

    let pointer: UnsafeMutableRawPointer
    let count: Int
    private let free: (UnsafeMutableRawPointer) -> Void

    /// Takes over `pointer`, which `free` releases.
    init(
        adopting pointer: UnsafeMutableRawPointer, count: Int,
        free: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        self.pointer = pointer
        self.count = count
        self.free = free
    }

    /// Memory for `count` bytes, which are not written yet.
    static func forPixels(count: Int) -> PixelMemory {
        if let lent, lent.count == count, let pointer = lent.baseAddress {
            self.lent = nil
            return PixelMemory(adopting: pointer, count: count) { _ in }
        }
        if let memory = PixelMemoryPool.shared.memory(count: count) { return memory }
        let pointer = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        return PixelMemory(adopting: pointer, count: count) { $0.deallocate() }
    }

    /// Has the first pixels of just the size of `memory` be written there. For workers, which decode on one thread.
    static func lending<Result>(
        _ memory: UnsafeMutableRawBufferPointer, _ body: () throws -> Result
    ) rethrows -> Result {
        lent = memory
        defer { lent = nil }
        return try body()
    }

    // Set in workers only, by their one thread that decodes.
    private nonisolated(unsafe) static var lent: UnsafeMutableRawBufferPointer?

    /// The bytes, to be written before the memory is shared.
    var bytes: UnsafeMutablePointer<UInt8> { pointer.assumingMemoryBound(to: UInt8.self) }

    static func copying(_ data: Data) -> PixelMemory {
        let memory = forPixels(count: data.count)
        data.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress {
                memory.pointer.copyMemory(from: base, byteCount: bytes.count)
            }
        }
        return memory
    }

    deinit {
        free(pointer)
    }
}

/// Blocks of pixel memory that were given up lately, for the next pictures of about that size.
///
/// Pages that the system has to give and to clear cost more than decoding into them: 30 ms for the 36 MB
/// of a 12-megapixel picture, where writing to pages that are there takes 3 ms. What waits in here is
/// marked as free to take, so that the system gets it back when memory is short.
///
/// Pixels may stay for long. In blocks of their own they leave no holes in the heap when they go.
package final class PixelMemoryPool: Sendable {
    package static let shared = PixelMemoryPool(limit: 64_000_000)

    /// Smaller blocks are left to `malloc`.
    static let leastCount = 64 << 10
    /// More blocks are not worth the search.
    private static let mostBlocks = 64

    private struct Block: @unchecked Sendable {
        // Unchecked because of the raw pointer; nobody else has it while it waits.
        let pointer: UnsafeMutableRawPointer
        let capacity: Int
    }

    private struct State {
        /// The oldest first.
        var blocks: [Block] = []
        var total = 0

        mutating func remove(at index: Int) -> Block {
            let block = blocks.remove(at: index)
            total -= block.capacity
            return block
        }
    }

    private let limit: Int
    private let state = Mutex(State())
    private let usedBytes = Atomic(0)

    /// - Parameter limit: The most bytes that wait to be used again.
    init(limit: Int) {
        self.limit = limit
    }

    deinit {
        for block in state.withLock({ $0.blocks }) { Self.unmap(block) }
    }

    /// Memory for `count` bytes, of which nothing is known; `nil` for a count that is too small to be worth
    /// it, or when there is no memory. It goes back with its last user.
    func memory(count: Int) -> PixelMemory? {
        guard count >= Self.leastCount, let block = waiting(count) ?? Self.map(count) else {
            return nil
        }
        usedBytes.add(block.capacity, ordering: .relaxed)
        return PixelMemory(adopting: block.pointer, count: count) { _ in self.giveBack(block) }
    }

    /// Bytes that wait to be used again. The system takes their pages when memory is short.
    package var waitingCount: Int { state.withLock { $0.total } }

    package var usedCount: Int { usedBytes.load(ordering: .relaxed) }

    /// A block that is large enough, but not by half.
    private func waiting(_ count: Int) -> Block? {
        state.withLock { state in
            let fitting = state.blocks.indices.filter {
                state.blocks[$0].capacity >= count && state.blocks[$0].capacity / 3 * 2 <= count
            }
            return fitting.min { state.blocks[$0].capacity < state.blocks[$1].capacity }
                .map { state.remove(at: $0) }
        }
    }

    private func giveBack(_ block: Block) {
        usedBytes.subtract(block.capacity, ordering: .relaxed)
        guard block.capacity <= limit else { return Self.unmap(block) }
        // Its pages stay until somebody needs them more.
        madvise(block.pointer, block.capacity, MADV_FREE)
        let surplus = state.withLock { state in
            var surplus: [Block] = []
            while state.total + block.capacity > limit || state.blocks.count == Self.mostBlocks {
                surplus.append(state.remove(at: 0))
            }
            state.blocks.append(block)
            state.total += block.capacity
            return surplus
        }
        surplus.forEach(Self.unmap)
    }

    private static func map(_ count: Int) -> Block? {
        let page = 1 << 16
        guard count <= Int.max - page else { return nil }
        let capacity = (count + page - 1) / page * page
        let pointer = mmap(
            nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let pointer, pointer != MAP_FAILED else { return nil }
        return Block(pointer: pointer, capacity: capacity)
    }

    private static func unmap(_ block: Block) {
        munmap(block.pointer, block.capacity)
    }
}
