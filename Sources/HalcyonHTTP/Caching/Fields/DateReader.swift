/// Reads the parts of a date. Texts to compare with are in lower case.
struct DateReader {
    static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    static let longWeekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private var rest: Substring.UTF8View

    init(_ text: String) {
        // No form is longer than `Wednesday, 06-Nov-94 08:49:37 GMT`.
        rest = (text.utf8.count > 33 ? "" : text.lowercasedASCII)[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads `text` if it comes next.
    mutating func literal(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// The position in `names` of the one that comes next.
    mutating func name(of names: [String]) -> Int? {
        guard let index = names.firstIndex(where: { rest.starts(with: $0.utf8) }) else {
            return nil
        }
        rest = rest.dropFirst(names[index].utf8.count)
        return index
    }

    /// A number of exactly so many digits, at most four.
    mutating func number(digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The seconds since midnight of `08:49:37`. A leap second counts as the one before it.
    mutating func time() -> Int? {
        guard let hour = number(digits: 2), hour <= 23, literal(":"),
            let minute = number(digits: 2), minute <= 59, literal(":"),
            let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }
}
