import HalcyonWork

/// The number and flag syntax of URLs.
enum Numbers {
    /// Reads decimal digits with optional sign, point and exponent; `nil` for anything else, and
    /// for numbers out of range.
    static func finite(_ text: String) -> Double? {
        // `Double` would read hexadecimal numbers and names, too.
        guard text.utf8.count <= 400,
            text.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    /// The shortest text that ``finite(_:)`` reads as the same number.
    static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
    }

    static func flag(_ text: String) -> Bool? {
        switch text {
        case "1", "t", "T", "true", "True", "TRUE": true
        case "0", "f", "F", "false", "False", "FALSE": false
        default: nil
        }
    }
}
