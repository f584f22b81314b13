package import Foundation
import Glibc

/// Memory whose size a stranger has named, in a file or in a response.
///
/// Where memory runs out, Swift ends the process, and so do most libraries when it is a small piece that they do not
/// get. So a large piece is given only while enough is left for all small ones.
package enum LargeMemory {
    package struct Shortage: Error, Hashable, Sendable, CustomStringConvertible {
        package let byteCount: Int

        package var description: String { "there is no memory for \(byteCount) more bytes" }
    }

    /// Bytes that are left for what is not asked for here.
    private static let reserve = 96 << 20
    /// The smallest size that is worth a question.
    private static let least = 256 << 10

    /// Whether the process gets so many bytes, and as many more as everything else needs.
    ///
    /// The kernel is asked by way of a mapping that nothing is written to: that counts by all limits of the process,
    /// and takes two microseconds.
    package static func hasRoom(for byteCount: Int) -> Bool {
        guard byteCount >= least else { return true }
        let (total, isTooLarge) = byteCount.addingReportingOverflow(reserve)
        guard !isTooLarge,
            let mapping = mmap(
                nil, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            mapping != MAP_FAILED
        else { return false }
        munmap(mapping, total)
        return true
    }

    /// - Throws: ``Shortage`` unless ``hasRoom(for:)``.
    package static func check(_ byteCount: Int) throws(Shortage) {
        guard hasRoom(for: byteCount) else { throw Shortage(byteCount: byteCount) }
    }

    /// Memory for `byteCount` bytes, aligned as `malloc` does it, to be freed with `free`.
    package static func allocate(
        byteCount: Int
    ) throws(Shortage) -> UnsafeMutableRawPointer {
        guard hasRoom(for: byteCount), let memory = malloc(max(1, byteCount)) else {
            throw Shortage(byteCount: byteCount)
        }
        return memory
    }

    package static func data(
        byteCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(Shortage) -> Data {
        let memory = try allocate(byteCount: byteCount)
        fill(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
        return Data(bytesNoCopy: memory, count: byteCount, deallocator: .free)
    }
}

extension Data {
    /// Appends bytes, of which a stranger decides how many there are in all. Throws when the bytes so far
    /// would have to be moved, and there is no room.
    package mutating func append(
        whileThereIsRoom bytes: UnsafeRawBufferPointer
    ) throws(LargeMemory.Shortage) {
        // It grows to about twice its size, beside what it has.
        let step = 1 << 20
        if count / step != (count + bytes.count) / step {
            try LargeMemory.check(2 * (count + bytes.count))
        }
        append(contentsOf: bytes)
    }
}
