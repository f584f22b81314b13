/// Gives each source a file name (without extension) of its own in one folder.
///
/// A name holds letters, digits, `-`, `_` and `.` only, does not begin with a dot, and differs from
/// all others given before by more than case.
struct OutputNames {
    private var taken: Set<String> = []

    /// The name for a source whose own name is `wish`: itself when it is safe and free.
    mutating func next(for wish: String) -> String {
        let base = Self.safe(wish)
        var name = base
        var number = 1
        while !taken.insert(name.lowercased()).inserted {
            number += 1
            name = "\(base)-\(number)"
        }
        return name
    }

    /// `wish` with everything replaced that might mean something to a shell or file system.
    static func safe(_ wish: String) -> String {
        var name = ""
        var length = 0
        for character in wish {
            let isAllowed =
                character.isLetter || character.isNumber || character == "_" || character == "."
            let next = isAllowed ? String(character) : "-"
            if next == "-" && name.hasSuffix("-") { continue }
            // File systems allow 255 bytes, of which a number and the extension need some.
            guard length + next.utf8.count <= 120 else { break }
            length += next.utf8.count
            name += next
        }
        let trimmed = name.drop { $0 == "." || $0 == "-" }
        let end = trimmed.lastIndex { $0 != "." && $0 != "-" }
        return end.map { String(trimmed[...$0]) } ?? "image"
    }
}
