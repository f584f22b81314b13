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
    private static let unspecified = 2

    /// The bits of a unit without the bytes that keep it from looking like the start of another (H.265, 7.3.1.1).
    private struct Bits {
        private var bytes: [UInt8] = []
        private var place = 0

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

        private mutating func next(_ count: Int = 1) -> Int? {
            guard place + count <= 8 * bytes.count else { return nil }
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(bytes[place / 8] >> (7 - place % 8) & 1)
                place += 1
            }
            return value
        }

        private mutating func skip(_ count: Int) { place += count }

        /// A number of an exponential Golomb code (9.2).
        private mutating func number() -> Int? {
            var zeros = 0
            while let bit = next(), bit == 0 { zeros += 1 }
            guard zeros <= 32, let rest = next(zeros) else { return nil }
            return (1 << zeros) - 1 + rest
        }

        private mutating func skipNumbers(_ count: Int) -> Bool {
            for _ in 0..<count where number() == nil { return false }
            return true
        }

        mutating func colours() -> (primaries: Int, transfer: Int)? {
            // The names are those of H.265, 7.3.2.2.
            skip(4)
            guard let layers = next(3) else { return nil }
            skip(1)
            skipProfile(layers)
            guard number() != nil, let chroma = number() else { return nil }
            if chroma == 3 { skip(1) }
            guard skipNumbers(2), let hasWindow = next(),
                hasWindow == 0 || skipNumbers(4), skipNumbers(3), let isOrdered = next(),
                skipNumbers(3 * (isOrdered == 1 ? layers + 1 : 1)), skipNumbers(6),
                let hasScaling = next()
            else { return nil }
            // Lists of scaling factors would have to be read.
            if hasScaling == 1, next() != 0 { return nil }
            skip(2)
            guard let hasPCM = next() else { return nil }
            if hasPCM == 1 {
                skip(8)
                guard skipNumbers(2) else { return nil }
                skip(1)
            }
            guard skipPictureSets(), let hasLongTerm = next(), hasLongTerm == 0 else { return nil }
            skip(2)
            guard next() == 1 else { return nil }
            return usability()
        }

        /// `profile_tier_level` (7.3.3).
        private mutating func skipProfile(_ layers: Int) {
            skip(96)
            guard layers > 0 else { return }
            var bits = 0
            for _ in 0..<layers {
                bits += (next() ?? 0) * 88
                bits += (next() ?? 0) * 8
            }
            skip(2 * (8 - layers) + bits)
        }

        /// `st_ref_pic_set` (7.3.7), of which a still picture has one at most.
        private mutating func skipPictureSets() -> Bool {
            guard let sets = number(), sets <= 1 else { return false }
            guard sets == 1 else { return true }
            guard let before = number(), let after = number(), before + after <= 16 else {
                return false
            }
            for _ in 0..<before + after {
                guard number() != nil else { return false }
                skip(1)
            }
            return true
        }

        /// The start of `vui_parameters` (E.2.1).
        private mutating func usability() -> (primaries: Int, transfer: Int)? {
            guard let hasAspect = next() else { return nil }
            if hasAspect == 1, next(8) == 255 { skip(32) }
            guard let hasOverscan = next() else { return nil }
            if hasOverscan == 1 { skip(1) }
            guard next() == 1 else { return nil }
            skip(4)
            guard next() == 1, let primaries = next(8), let transfer = next(8),
                (primaries, transfer) != (HEVCColours.unspecified, HEVCColours.unspecified)
            else { return nil }
            return (primaries, transfer)
        }
    }
}
