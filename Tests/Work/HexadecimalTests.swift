import HalcyonWork
import Testing

struct HexadecimalTests {
    @Test func bytesAreTwoDigitsEach() {
        #expect(String(hexadecimal: [0, 9, 10, 0x7F, 0xA0, 255]) == "00090a7fa0ff")
        #expect(String(hexadecimal: []).isEmpty)
    }

    @Test func randomNamesDiffer() {
        let names = (0..<100).map { _ in String.randomHexadecimal() }
        #expect(Set(names).count == 100)
        #expect(names.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test func aDigitHasItsValueInBothCases() {
        let values = "019afAF".utf8.map { UInt8(hexadecimalDigit: $0) }
        #expect(values == [0, 1, 9, 10, 15, 10, 15])
        #expect("/:@G`g ".utf8.allSatisfy { UInt8(hexadecimalDigit: $0) == nil })
    }
}
