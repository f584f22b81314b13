/// A value in JSON.
protocol JSONValue: Sendable {
    /// The value on one line.
    var jsonText: String { get }
}

/// A JSON object, with its members in the order they were added.
struct JSONObject: JSONValue {
    /// Names and their values; `nil` is written as `null`.
    typealias Members = KeyValuePairs<String, (any JSONValue)?>

    private var members: [(name: String, value: (any JSONValue)?)] = []

    init(_ members: Members = [:]) { add(members) }

    mutating func add(_ members: Members) {
        self.members += members.map { ($0.key, $0.value) }
    }

    /// Adds those of `members` that have a value.
    mutating func add(present members: Members) {
        self.members += members.filter { $0.value != nil }.map { ($0.key, $0.value) }
    }

    var jsonText: String {
        let texts = members.map { "\($0.name.jsonText):\($0.value?.jsonText ?? "null")" }
        return "{" + texts.joined(separator: ",") + "}"
    }
}

extension JSONValue where Self: CustomStringConvertible {
    var jsonText: String { description }
}

extension Bool: JSONValue {}
extension Int: JSONValue {}
extension Int64: JSONValue {}

extension Double: JSONValue {
    var jsonText: String { isFinite ? description : "null" }

    /// The number with two decimals.
    var inHundredths: Double { (self * 100).rounded() / 100 }
}

extension Array: JSONValue where Element: JSONValue {
    var jsonText: String { "[" + map(\.jsonText).joined(separator: ",") + "]" }
}

extension String: JSONValue {
    var jsonText: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // The last two end a line in JavaScript, and the one before is DEL.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
