/// The classes of bytes in URLs, header fields and other texts of ASCII.
extension UInt8 {
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }

    @inlinable package var isLowercaseLetter: Bool { (0x61...0x7A).contains(self) }

    @inlinable package var isLetter: Bool { (self | 0x20).isLowercaseLetter }

    /// `tchar` of RFC 9110, section 5.6.2.
    @inlinable package var isTokenByte: Bool {
        isDigit || isLetter || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }

    /// `unreserved` of RFC 3986, section 2.3.
    @inlinable package var isUnreserved: Bool {
        isDigit || isLetter || "-._~".utf8.contains(self)
    }
}
