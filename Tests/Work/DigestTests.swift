import HalcyonWork
import Testing

/// Digests and authentication codes, by the vectors of their standards.
struct DigestTests {
    @Test(arguments: ["", "abc", "The quick brown fox jumps over the lazy dog"])
    func theBytesOfADigestAreThoseOfItsDigits(text: String) {
        for digest in [Digest.md5, .sha256] {
            #expect(String(hexadecimal: digest.bytes(Array(text.utf8))) == digest.hexadecimal(text))
        }
    }

    /// RFC 4231, test cases 1, 2 and 6, and a key and a text without bytes.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func anAuthenticationCodeIsThatOfTheStandard(key: [UInt8], text: String, expected: String) {
        let code = Digest.sha256.authenticationCode(Array(text.utf8), key: key)
        #expect(String(hexadecimal: code) == expected)
    }
}

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
