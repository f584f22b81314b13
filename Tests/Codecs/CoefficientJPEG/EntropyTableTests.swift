import Testing

@testable import CoefficientJPEG

@Suite struct EntropyTableTests {
    /// The alternating table for luma of the standard's Annex K, table K.5.
    private static let luma = HuffmanDefinition(
        purpose: .alternating, counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D],
        symbols: [
            0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51,
            0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1,
            0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0A, 0x16, 0x17, 0x18,
            0x19, 0x1A, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39,
            0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57,
            0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75,
            0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x92,
            0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
            0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3,
            0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8,
            0xD9, 0xDA, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2,
            0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA,
        ])

    @Test func codesAreThoseOfTheStandard() throws {
        let code = try HuffmanCode(Self.luma)
        let codes = Dictionary(uniqueKeysWithValues: zip(code.symbols, code.codes))
        // Table K.5: the end of the block, run 0 of size 1, run 15 without a value, run 15 of size 10.
        #expect(try #require(codes[0x00]) == (0b1010, 4))
        #expect(try #require(codes[0x01]) == (0b00, 2))
        #expect(try #require(codes[0xF0]) == (0b111_1111_1001, 11))
        #expect(try #require(codes[0xFA]) == (0b1111_1111_1111_1110, 16))
    }

    @Test func symbolsBeyondTheTablesAreFoundByTheirCodes() throws {
        let table = try EntropyTable(Self.luma)
        for (symbol, code) in zip(Self.luma.symbols, try HuffmanCode(Self.luma).codes) {
            // A value of ones alone is the largest of its size.
            let bits =
                UInt64(code.bits) << UInt64(64 - code.length) | UInt64.max >> UInt64(code.length)
            let (read, length) = EntropyLookup.longSymbol(table.lookup, bits)
            let size = Int(symbol & 15)
            #expect(read.advance == (symbol == 0 ? 0 : Int(symbol >> 4) + 1))
            #expect(read.value == (1 << size) - 1)
            #expect(length == code.length + size)
        }
        #expect(EntropyLookup.longSymbol(table.lookup, .max).symbol.advance == ReadSymbol.damage)
    }

    @Test func skippingTakesWholeSymbolsAndTheEndOfTheBlock() throws {
        let table = SkipTable.entries(of: try HuffmanCode(Self.luma))
        // 00 x, 00 x, 1100 x, and 10 of the next.
        let three = table[0b00_1_00_0_1100_1_10]
        #expect((three.length, three.advance) == (11, 4))
        // 01 xx, 1010, and whatever follows.
        let ended = table[0b01_11_1010_00000]
        #expect((ended.length, Int(ended.advance)) == (8, 1 + 1 + SkipTable.end))
        // A code of 13 bits or more.
        let unknown = table[0b1111_1111_1111_1]
        #expect((unknown.length, Int(unknown.advance)) == (0, SkipTable.unknown))
    }

    @Test func noEntryUsesMoreBitsThanAreReady() throws {
        for entry in SkipTable.entries(of: try HuffmanCode(Self.luma)) {
            #expect(entry.length <= 23)
            #expect(entry.advance > 0)
        }
        for entry in PairTable.entries(of: try HuffmanCode(Self.luma)) {
            #expect(entry & 255 <= UInt64(PairTable.width))
            #expect(entry >> 8 & 255 > 0)
        }
    }

    @Test func pairsHoldBothValues() throws {
        let table = PairTable.entries(of: try HuffmanCode(Self.luma))
        // 01 with 11 is 3; 1100 is a run of one zero, and 0 behind it is -1.
        let entry = table[0b01_11_1100_0_00]
        let fields = [entry, entry >> 8, entry >> 16].map { $0 & 255 } + [entry >> 24 & 127]
        #expect(fields == [9, 3, 1, 2])
        #expect(Int16(truncatingIfNeeded: entry >> 32) == 3)
        #expect(Int16(truncatingIfNeeded: entry >> 48) == -1)
    }

    @Test func codesThatAreFullOrTooManyAreRefused() {
        for counts: [UInt8] in [[2], [0, 4], [1, 1, 2], [3]] {
            let definition = HuffmanDefinition(
                purpose: .direct, counts: counts + [UInt8](repeating: 0, count: 16 - counts.count),
                symbols: [UInt8](repeating: 0, count: counts.reduce(0) { $0 + Int($1) }))
            #expect(throws: JPEGRefusal.huffman) { try HuffmanCode(definition) }
        }
    }

    @Test func theCacheKeepsTheTablesUsedLast() throws {
        let cache = EntropyTableCache(limit: 2)
        let definitions = (0..<3).map { symbol in
            HuffmanDefinition(
                purpose: .direct, counts: [1] + [UInt8](repeating: 0, count: 15), symbols: [symbol])
        }
        let first = try cache.table(for: definitions[0])
        let second = try cache.table(for: definitions[1])
        #expect(try cache.table(for: definitions[0]) === first)
        _ = try cache.table(for: definitions[2])
        #expect(cache.count == 2)
        #expect(try cache.table(for: definitions[0]) === first)
        #expect(try cache.table(for: definitions[1]) !== second)
    }

    @Test func theZigzagOrderIsThatOfTheStandard() {
        #expect(BlockStep.zigzag.prefix(10) == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24])
        #expect(BlockStep.zigzag.suffix(4) == [47, 55, 62, 63])
        #expect(Set(BlockStep.zigzag).count == 64)
    }
}
