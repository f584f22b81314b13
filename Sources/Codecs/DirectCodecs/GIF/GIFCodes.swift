/// Decodes the compressed pixels of GIF frames (LZW with codes of up to 12 bits).
///
/// Every string that a code can stand for is somewhere in the pixels that have come out already: the
/// string of a new code is that of the code before it and one pixel more, which are next to each other.
/// So the table holds places and lengths, and strings are copied several bytes at once.
struct GIFCodes: ~Copyable {
    private static let tableSize = 4096
    private static let step = 8

    /// The strings of codes: where in the pixels, and how long.
    private let table: UnsafeMutablePointer<(start: Int32, length: Int32)>
    /// The codes of a frame without the lengths of their blocks.
    private var stream: UnsafeMutablePointer<UInt8>
    private var streamCapacity = 0

    init() {
        table = .allocate(capacity: Self.tableSize)
        table.initialize(repeating: (0, 0), count: Self.tableSize)
        stream = .allocate(capacity: Self.step)
    }

    deinit {
        table.deallocate()
        stream.deallocate()
    }

    /// Bytes that a buffer of pixels must have beyond its count.
    static let slack = 2 * step

    /// Decodes `count` pixels; false when a code is invalid, or codes end too early.
    ///
    /// - Parameters:
    ///   - offset: Where the byte of the least code size is; the chain of blocks behind it is whole.
    ///   - pixels: Room for `count` bytes and ``slack`` more.
    mutating func decode(
        _ bytes: UnsafeRawBufferPointer, offset: Int,
        into pixels: UnsafeMutablePointer<UInt8>, count: Int
    ) -> Bool {
        guard bytes[offset] <= 8, count <= Int(Int32.max) else { return false }
        return follow(bytes, offset: offset, count: count) { code, end in
            pixels[end] = UInt8(truncatingIfNeeded: code)
        } copy: { start, end, length in
            Self.copy(pixels + start, to: pixels + end, length)
        }
    }

    /// Whether the codes are valid until `count` pixels have come out, which are not kept.
    mutating func areValid(_ bytes: UnsafeRawBufferPointer, offset: Int, count: Int) -> Bool {
        follow(bytes, offset: offset, count: count) { _, _ in
        } copy: { _, _, _ in
        }
    }

    /// Reads codes until `count` pixels have come out; false when one is invalid, or they end too early.
    ///
    /// - Parameters:
    ///   - put: Called for a pixel of its own, with its index and place.
    ///   - copy: Called for a string that has come out before, with its place, that of the copy and its length.
    @inline(__always)
    private mutating func follow(
        _ bytes: UnsafeRawBufferPointer, offset: Int, count: Int, put: (Int, Int) -> Void,
        copy: (Int, Int, Int) -> Void
    ) -> Bool {
        let leastSize = Int(bytes[offset])
        guard (1...11).contains(leastSize) else { return false }
        let available = gather(bytes, from: offset + 1) * 8
        let clear = 1 << leastSize
        var next = clear + 2
        var width = leastSize + 1
        var position = 0
        // The string of the code before; none after a clear code.
        var last = (start: 0, length: 0)
        var end = 0
        while end < count {
            guard position + width <= available else { return false }
            let word = UnsafeRawPointer(stream).loadUnaligned(
                fromByteOffset: position >> 3, as: UInt32.self)
            let code =
                Int(UInt32(littleEndian: word) >> UInt32(position & 7)) & ((1 << width) - 1)
            position += width
            if code < clear {
                put(code, end)
                if last.length > 0 { define(&next, &width, last) }
                last = (end, 1)
                end += 1
                continue
            }
            if code == clear {
                next = clear + 2
                width = leastSize + 1
                last = (0, 0)
                continue
            }
            guard code > clear + 1, last.length > 0 else { return false }
            // The code that is about to be defined may be used at once.
            guard code < next || code == next && next < Self.tableSize else { return false }
            define(&next, &width, last)
            let entry = table[code]
            let length = min(Int(entry.length), count - end)
            copy(Int(entry.start), end, length)
            last = (end, Int(entry.length))
            end += length
        }
        return true
    }

    /// Gives the next free code, if there is one, the string `last` and the pixel behind it.
    @inline(__always)
    private func define(
        _ next: inout Int, _ width: inout Int, _ last: (start: Int, length: Int)
    ) {
        guard next < Self.tableSize else { return }
        table[next] = (Int32(truncatingIfNeeded: last.start), Int32(last.length + 1))
        next += 1
        if next == 1 << width, width < 12 { width += 1 }
    }

    /// Copies a string forward. The two may overlap in the last byte of the string, which is then its
    /// first one.
    @inline(__always)
    private static func copy(
        _ source: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>,
        _ length: Int
    ) {
        let overlaps = source + length > target
        var done = 0
        while done < length {
            let part = UnsafeRawPointer(source + done).loadUnaligned(as: UInt64.self)
            UnsafeMutableRawPointer(target + done).storeBytes(of: part, as: UInt64.self)
            done += step
        }
        if overlaps { target[length - 1] = source[length - 1] }
    }

    /// Joins the blocks of a frame; returns their bytes. Zeros follow, so that words can be read.
    private mutating func gather(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        var size = 0
        var block = offset
        while bytes[block] > 0 {
            size += Int(bytes[block])
            block += 1 + Int(bytes[block])
        }
        if size + Self.step > streamCapacity {
            stream.deallocate()
            streamCapacity = size + Self.step
            stream = .allocate(capacity: streamCapacity)
        }
        var end = 0
        block = offset
        while bytes[block] > 0 {
            let length = Int(bytes[block])
            UnsafeMutableRawPointer(stream + end).copyMemory(
                from: bytes.baseAddress! + block + 1, byteCount: length)
            end += length
            block += 1 + length
        }
        (stream + end).initialize(repeating: 0, count: Self.step)
        return size
    }
}
