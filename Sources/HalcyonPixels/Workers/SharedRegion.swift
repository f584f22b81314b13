import CWorker
import Foundation
import Glibc
import HalcyonWork

/// Memory that two processes have mapped, and keep for one picture after the other.
final class SharedRegion {
    let file: Int32
    private(set) var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// More is given back as soon as it is not used any longer.
    private static let mostKept = 8 << 20
    private static let step = 1 << 20

    /// A new one; `nil` when there is no memory for it.
    init?() {
        file = cworker_memory_file()
        guard file >= 0, reserve(Self.step) else { return nil }
    }

    /// That of somebody else.
    init(file: Int32) {
        self.file = file
    }

    deinit {
        if let pointer = bytes.baseAddress { munmap(pointer, bytes.count) }
        if file >= 0 { close(file) }
    }

    /// Makes it at least `count` bytes large; false when there is no memory for that.
    func reserve(_ count: Int) -> Bool {
        if count <= bytes.count { return true }
        guard count <= Int.max - Self.step else { return false }
        let size = (count + Self.step - 1) / Self.step * Self.step
        return LargeMemory.hasRoom(for: size) && cworker_enlarge(file, Int64(size)) && map(size)
    }

    /// Maps what the other process has made it; false when that is less than `count` bytes.
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

    /// The first bytes, in memory of their own.
    func pixels(count: Int) -> PixelMemory {
        let memory = PixelMemory.forPixels(count: count)
        guard count > Self.mostKept, let start = bytes.baseAddress else {
            memory.pointer.copyMemory(from: bytes.baseAddress!, byteCount: count)
            return memory
        }
        // Not twice in memory: what has been copied is given back.
        for offset in stride(from: 0, to: count, by: Self.mostKept) {
            let length = min(Self.mostKept, count - offset)
            (memory.pointer + offset).copyMemory(from: start + offset, byteCount: length)
            giveBack(offset, length)
        }
        return memory
    }

    /// Gives back its memory, until it is used again.
    func shrink() { giveBack(0, bytes.count) }

    private func giveBack(_ offset: Int, _ count: Int) {
        // Where that cannot be done nothing is lost.
        cworker_give_back(file, Int64(offset), Int64(count))
    }
}
