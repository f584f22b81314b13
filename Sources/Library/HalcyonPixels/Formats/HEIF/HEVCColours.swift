/// The colours that the bit stream of HEVC states, for files in which no box `colr` does.
enum HEVCColours {
    /// The code points of ITU-T H.273 in the first sequence parameter set of a box `hvcC` (ISO/IEC 14496-15,
    /// 8.3.2.1); `nil` when there are none, and behind parts of it that still pictures have no use for.
    static func codes(_ box: ISOBoxes.Box) -> (primaries: Int, transfer: Int)? {
        guard let arrays = box.byte(22) else { return nil }
        var place = 23
        for _ in 0..<arrays {
            guard let type = box.byte(place), let count = box.number(place + 1, 2) else {
                return nil
            }
            place += 3
            for _ in 0..<count {
                guard let length = box.number(place, 2), place + 2 + length <= box.available,
                    let unit = box.slice(place + 2, count: length)
                else { return nil }
                if type & 63 == sequenceParameters {
                    var bits = Bits(unit.dropFirst(2))
                    return bits.colours()
                }
                place += 2 + length
            }
        }
        return nil
    }

    private static let sequenceParameters: UInt8 = 33

    /// The bits of a unit without the bytes that keep it from looking like the start of another (H.265, 7.3.1.1).
    private struct Bits {
        private var bytes: [UInt8] = []
        private var place = 0
        /// Whether more was read than there is, which gives zeros, or a number that is none.
        private var isPastEnd = false

        init(_ unit: Slice<UnsafeRawBufferPointer>) {
            var zeros = 0
            for byte in unit.prefix(4096) {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                bytes.append(byte)
            }
        }

        private mutating func next(_ count: Int = 1) -> Int {
            var value = 0
            for _ in 0..<count {
                isPastEnd = isPastEnd || place >= 8 * bytes.count
                value = value << 1 | (isPastEnd ? 0 : Int(bytes[place / 8] >> (7 - place % 8) & 1))
                place += 1
            }
            return value
        }

        private mutating func skip(_ count: Int) { place += count }

        /// A number of an exponential Golomb code (9.2).
        private mutating func number() -> Int {
            var zeros = 0
            while zeros <= 32, next() == 0 { zeros += 1 }
            guard zeros <= 32 else {
                isPastEnd = true
                return 0
            }
            return (1 << zeros) - 1 + next(zeros)
        }

        private mutating func skipNumbers(_ count: Int) {
            for _ in 0..<count { _ = number() }
        }

        /// Reads `seq_parameter_set_rbsp` (H.265, 7.3.2.2), and in it the start of `vui_parameters` (E.2.1).
        mutating func colours() -> (primaries: Int, transfer: Int)? {
            skip(4)
            let layers = next(3)
            skip(1)
            skipProfile(layers)
            skipNumbers(1)
            let hasSeparateColours = number() == 3
            if hasSeparateColours { skip(1) }
            skipNumbers(2)
            let hasWindow = next() == 1
            skipNumbers(hasWindow ? 7 : 3)
            let isOrdered = next() == 1
            skipNumbers(3 * (isOrdered ? layers + 1 : 1) + 6)
            let hasScaling = next() == 1
            // Lists of scaling factors would have to be read.
            if hasScaling, next() == 1 { return nil }
            skip(2)
            let hasPCM = next() == 1
            if hasPCM {
                skip(8)
                skipNumbers(2)
                skip(1)
            }
            let hasLongTerm = skipPictureSets() ? next() == 1 : true
            guard !hasLongTerm else { return nil }
            skip(2)
            guard next() == 1 else { return nil }
            let hasAspect = next() == 1
            if hasAspect, next(8) == 255 { skip(32) }
            let hasOverscan = next() == 1
            if hasOverscan { skip(1) }
            guard next() == 1 else { return nil }
            skip(4)
            guard next() == 1 else { return nil }
            let (primaries, transfer) = (next(8), next(8))
            let isUnspecified = primaries == 2 && transfer == 2
            return isPastEnd || isUnspecified ? nil : (primaries, transfer)
        }

        /// `profile_tier_level` (7.3.3).
        private mutating func skipProfile(_ layers: Int) {
            skip(96)
            guard layers > 0 else { return }
            let bits = (0..<layers).reduce(0) { sum, _ in sum + next() * 88 + next() * 8 }
            skip(2 * (8 - layers) + bits)
        }

        /// `st_ref_pic_set` (7.3.7), of which a still picture has one at most.
        private mutating func skipPictureSets() -> Bool {
            let sets = number()
            guard sets == 1 else { return sets == 0 }
            let count = number() + number()
            guard count <= 16 else { return false }
            for _ in 0..<count {
                skipNumbers(1)
                skip(1)
            }
            return true
        }
    }
}
