import Foundation

/// Numbers at places in bytes that may be anything: every read is checked.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }

    /// The byte at `offset`, or `nil` outside of the bytes.
    func byte(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[offset] : nil
    }

    func littleUInt16(_ offset: Int) -> Int? {
        integer(offset, UInt16.self).map { Int(UInt16(littleEndian: $0)) }
    }

    func littleUInt32(_ offset: Int) -> UInt32? {
        integer(offset, UInt32.self).map { UInt32(littleEndian: $0) }
    }

    func bigUInt16(_ offset: Int) -> Int? {
        integer(offset, UInt16.self).map { Int(UInt16(bigEndian: $0)) }
    }

    func bigUInt32(_ offset: Int) -> UInt32? {
        integer(offset, UInt32.self).map { UInt32(bigEndian: $0) }
    }

    /// The `count` bytes from `offset`, or `nil` when some are missing.
    func slice(_ offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private func integer<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T? {
        guard let slice = slice(offset, count: MemoryLayout<T>.size) else { return nil }
        return slice.loadUnaligned(as: T.self)
    }
}
