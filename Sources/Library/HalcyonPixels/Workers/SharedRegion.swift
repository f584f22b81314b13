import CProcesses
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// Memory shared by two processes, which both keep mapped from picture to picture.
final class SharedRegion {
    let file: Int32
    private(set) var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Contents up to this size are kept for the next ones: pages that are there cost a tenth of fresh ones.
    private static let small = 8 << 20
    private static let step = 1 << 20
    /// The most bytes of larger contents that all regions together keep: a photograph of 12 megapixels.
    private static var mostKept: Int { min(40 << 20, DecodingBudget.shared.limit / 4) }
    private static let allKept = Atomic(0)
    /// This region's part of `allKept`.
    private var kept = 0

    /// Creates a region; `nil` without memory for it.
    init?() {
        file = cworker_memory_file()
        guard file >= 0, reserve(Self.step) else { return nil }
    }

    init(file: Int32) {
        self.file = file
    }

    deinit {
        Self.allKept.subtract(kept, ordering: .relaxed)
        if let pointer = bytes.baseAddress { munmap(pointer, bytes.count) }
        if file >= 0 { close(file) }
    }

    /// Grows the region to at least `count` bytes; false without memory for it.
    func reserve(_ count: Int) -> Bool {
        if count <= bytes.count { return true }
        guard count <= Int.max - Self.step else { return false }
        let size = (count + Self.step - 1) / Self.step * Self.step
        return LargeMemory.hasRoom(for: size) && cworker_enlarge(file, Int64(size)) && map(size)
    }

    /// Maps the region as grown by the other process; false if it has fewer than `count` bytes.
    func follow(_ count: Int) -> Bool {
        if count <= bytes.count { return true }
        var status = stat()
        guard fstat(file, &status) == 0, Int(status.st_size) >= count else { return false }
        return map(Int(status.st_size))
    }

    private func map(_ size: Int) -> Bool {
        let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let mapped, mapped != MAP_FAILED else { return false }
        if let pointer = bytes.baseAddress { munmap(pointer, bytes.count) }
        bytes = UnsafeMutableRawBufferPointer(start: mapped, count: size)
        return true
    }

    func write(_ data: Data) -> Bool {
        guard reserve(data.count) else { return false }
        data.copyBytes(to: bytes)
        return true
    }

    /// Copies the first `count` bytes to private memory.
    func pixels(count: Int) -> PixelMemory {
        let memory = PixelMemory.forPixels(count: count)
        let start = UnsafeRawPointer(bytes.baseAddress!)
        guard count > Self.small, !keeps(count) else {
            memory.pointer.copyMemory(from: start, byteCount: count)
            return memory
        }
        // Release each piece once it is copied, so that the largest pictures are not held twice.
        for offset in stride(from: 0, to: count, by: Self.small) {
            let length = min(Self.small, count - offset)
            (memory.pointer + offset).copyMemory(from: start + offset, byteCount: length)
            giveBack(offset, length)
        }
        keepNothing()
        return memory
    }

    /// Releases the memory. The contents become zeros.
    func shrink() {
        giveBack(0, bytes.count)
        keepNothing()
    }

    /// Whether the memory of `count` bytes may stay for the next contents.
    private func keeps(_ count: Int) -> Bool {
        let more = max(0, count - kept)
        guard Self.allKept.add(more, ordering: .relaxed).newValue <= Self.mostKept else {
            Self.allKept.subtract(more, ordering: .relaxed)
            return false
        }
        kept += more
        return true
    }

    private func keepNothing() {
        Self.allKept.subtract(kept, ordering: .relaxed)
        kept = 0
    }

    private func giveBack(_ offset: Int, _ count: Int) {
        cworker_give_back(file, Int64(offset), Int64(count))
    }
}
