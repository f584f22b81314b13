extension String {
    /// What a library says of a failure, without the names of functions and modules in it, on one
    /// line: people know a file, not who reads it.
    var plainWords: String { plainWords(orElse: "it cannot be decoded") }

    /// The same, or `fallback` where no words are left.
    func plainWords(orElse fallback: String) -> String {
        var lines: [String] = []
        for line in split(whereSeparator: \.isNewline) {
            let words = Self.withoutNames(line)
            if words.contains(where: \.isLetter), !lines.contains(words) { lines.append(words) }
        }
        lines.removeAll { $0 == "error" }
        lines = lines.map { $0 == "libpng read error" ? "its pixels cannot be read" : $0 }
        return lines.isEmpty ? fallback : lines.joined(separator: "; ")
    }

    /// A line without the names before its first colons, and without functions' names in it.
    private static func withoutNames(_ line: Substring) -> String {
        var rest = line.drop(while: \.isWhitespace)
        while let colon = rest.firstIndex(of: ":"), isName(rest[..<colon]) {
            rest = rest[colon...].dropFirst().drop(while: \.isWhitespace)
        }
        return rest.split(separator: " ").filter { !isFunction($0) }.joined(separator: " ")
    }

    /// One word, such as `vipspng` or `TIFFReadDirectory`; a sentence may begin with a capital.
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return false }
        return first.isLowercase || text.contains("_") || text.count(where: \.isUppercase) > 1
    }

    /// `JxlDecoderProcessInput`, `vips_image_write`.
    private static func isFunction(_ word: Substring) -> Bool {
        let letters = word.drop { !$0.isLetter }
        if letters.contains("_") { return letters.allSatisfy { $0 == "_" || $0.isLowercase } }
        let humps = zip(letters, letters.dropFirst()).count { $0.isLowercase && $1.isUppercase }
        return humps >= 2 && letters.allSatisfy { $0.isLetter || $0.isNumber }
    }
}
