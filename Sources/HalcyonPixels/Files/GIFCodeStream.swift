/// The compressed pixels of one GIF frame, read as far as is needed to count them.
struct GIFCodeStream {
    private let reader: ByteReader
    private let offset: Int

    /// - Parameter offset: Where the byte of the least code size is.
    init(_ reader: ByteReader, offset: Int) {
        self.reader = reader
        self.offset = offset
    }

    /// Whether the codes are valid until `pixels` pixels have come out.
    ///
    /// Only the lengths of the strings that the codes stand for are kept, not the strings.
    func yields(pixels: Int) -> Bool {
        guard let leastSize = reader.byte(offset), (1...11).contains(leastSize) else {
            return false
        }
        let clear = 1 << Int(leastSize)
        var lengths = [Int](repeating: 1, count: 4096)
        var next = clear + 2
        var width = Int(leastSize) + 1
        var previous: Int?
        var count = 0
        var bits = BitReader(reader, offset: offset + 1)
        while count < pixels {
            guard let code = bits.next(width) else { return false }
            if code == clear {
                next = clear + 2
                width = Int(leastSize) + 1
                previous = nil
                continue
            }
            guard code != clear + 1 else { return false }
            guard let last = previous else {
                guard code < clear else { return false }
                count += 1
                previous = code
                continue
            }
            // The code that is about to be defined may be used at once.
            guard code < next || code == next && next < 4096 else { return false }
            if next < 4096 {
                lengths[next] = lengths[last] + 1
                next += 1
                if next == 1 << width, width < 12 { width += 1 }
            }
            count += lengths[code]
            previous = code
        }
        return true
    }

    /// Codes of varying width, least significant bit first, out of a chain of sub-blocks.
    private struct BitReader {
        private let reader: ByteReader
        private var offset: Int
        private var blockEnd: Int
        private var buffer = 0
        private var available = 0

        init(_ reader: ByteReader, offset: Int) {
            self.reader = reader
            self.offset = offset
            blockEnd = offset
        }

        mutating func next(_ width: Int) -> Int? {
            while available < width {
                guard let byte = nextByte() else { return nil }
                buffer |= Int(byte) << available
                available += 8
            }
            let code = buffer & ((1 << width) - 1)
            buffer >>= width
            available -= width
            return code
        }

        private mutating func nextByte() -> UInt8? {
            if offset == blockEnd {
                guard let length = reader.byte(offset), length > 0 else { return nil }
                offset += 1
                blockEnd = offset + Int(length)
            }
            defer { offset += 1 }
            return reader.byte(offset)
        }
    }
}
