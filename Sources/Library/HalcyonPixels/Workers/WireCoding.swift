/// Writes the fields of a message: little-endian numbers, and texts after their length.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ flag: Bool) { put(flag ? 1 : 0 as UInt8) }

    /// As far as a reader takes it: files may claim any size.
    mutating func put(_ size: PixelSize) {
        for length in [size.width, size.height] {
            put(min(max(Int64(length), 1), Int64(Int32.max)))
        }
    }

    /// At most `limit` bytes of it.
    mutating func put(_ text: String, atMost limit: Int) {
        let utf8 = text.utf8.prefix(limit)
        put(UInt16(clamping: utf8.count))
        bytes += utf8.prefix(Int(UInt16.max))
    }
}

/// Reads the fields of a message from an untrusted sender.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(
        _: Number.Type = Number.self
    ) -> Number? {
        let count = MemoryLayout<Number>.size
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func flag() -> Bool? {
        switch number(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// A size from 1×1 to 2³¹−1 pixels a side.
    mutating func size() -> PixelSize? {
        guard let width = number(Int64.self), let height = number(Int64.self),
            1...Int64(Int32.max) ~= width, 1...Int64(Int32.max) ~= height
        else { return nil }
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// A number of something.
    mutating func count() -> Int? {
        guard let number = number(Int64.self), number >= 0 else { return nil }
        return Int(number)
    }

    mutating func text() -> String? {
        guard let count = number(UInt16.self).map(Int.init), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }
}
