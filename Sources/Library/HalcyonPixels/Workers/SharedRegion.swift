import CProcesses
import Foundation
import Glibc
import HalcyonWork

/// Memory shared by two processes, which both keep mapped from picture to picture.
final class SharedRegion {
    let file: Int32
    private(set) var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Larger contents are released while they are copied out.
    private static let mostKept = 8 << 20
    private static let step = 1 << 20

    /// Creates a region; `nil` without memory for it.
    init?() {
        file = cworker_memory_file()
        guard file >= 0, reserve(Self.step) else { return nil }
    }

    /// A region created by another process.
    init(file: Int32) {
        self.file = file
    }

    deinit {
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

    /// Writes `data` at the beginning.
    func write(_ data: Data) -> Bool {
        guard reserve(data.count) else { return false }
        data.copyBytes(to: bytes)
        return true
    }

    /// Copies the first `count` bytes to private memory.
    func pixels(count: Int) -> PixelMemory {
        let memory = PixelMemory.forPixels(count: count)
        guard count > Self.mostKept, let start = bytes.baseAddress else {
            memory.pointer.copyMemory(from: bytes.baseAddress!, byteCount: count)
            return memory
        }
        // Release each piece once it is copied, so that large pictures are not held twice.
        for offset in stride(from: 0, to: count, by: Self.mostKept) {
            let length = min(Self.mostKept, count - offset)
            (memory.pointer + offset).copyMemory(from: start + offset, byteCount: length)
            giveBack(offset, length)
        }
        return memory
    }

    /// Releases the memory. The contents become zeros.
    func shrink() { giveBack(0, bytes.count) }

    private func giveBack(_ offset: Int, _ count: Int) {
        cworker_give_back(file, Int64(offset), Int64(count))
    }
}
