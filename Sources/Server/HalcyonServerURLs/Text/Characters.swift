extension StringProtocol {
    /// The parts before, between and behind separators, compared as bytes: a slash with a combining character is a
    /// slash.
    func parts(at separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether there is a character that ends lines, texts of C or the like.
    var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
