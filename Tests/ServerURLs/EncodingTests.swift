import HalcyonWork
import Testing

@testable import HalcyonServerURLs

/// Bytes as text in URLs.
struct EncodingTests {
    /// RFC 4648, section 10, without padding.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"), ("\u{3FB}~?", "z7t-Pw"),
    ])
    func bytesAreWrittenInBase64(text: String, encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test func theLastTwoCharactersOfTheAlphabetAreThoseOfURLs() {
        #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
        #expect(Base64URL.decode("--__") == [0xFB, 0xEF, 0xFF])
    }

    @Test(arguments: [
        "A", "AAAAA", "Zh", "Zm9", "Zg==", "Zg=", "++//", "Z g", "Zg\n", "é", "Zm9v!",
    ])
    func whatNothingIsWrittenAsIsRefused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%C3%A9", "é"), ("a+b", "a+b"), ("%2541", "%41"), ("", ""), ("é", "é"),
    ])
    func percentEncodingIsUndoneOnce(text: String, decoded: String) {
        #expect(PercentEncoding.decode(text) == decoded)
    }

    @Test(arguments: ["%", "%2", "%zz", "a%", "%C3", "%FF", "%é1", "% 1"])
    func whatIsNotPercentEncodedUTF8IsRefused(text: String) {
        #expect(PercentEncoding.decode(text) == nil)
    }

    @Test func whatIsNotPlainIsPercentEncoded() {
        #expect(PercentEncoding.encode("aZ09-._~ /%é\n") == "aZ09-._~%20%2F%25%C3%A9%0A")
        #expect(PercentEncoding.encode("a/b:c", keeping: "/") == "a/b%3Ac")
    }
}
