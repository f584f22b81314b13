/// A JSON object on one line, with its members in the order they were added.
struct JSONObject: Sendable {
    indirect enum Value: Sendable {
        case string(String)
        case int(Int64)
        /// Written with two decimals.
        case double(Double)
        /// Written with all its decimals.
        case number(Double)
        case bool(Bool)
        case null
        case object(JSONObject)
        case array([Value])
    }

    private var members: [(name: String, value: Value)] = []

    init(_ members: KeyValuePairs<String, Value> = [:]) {
        self.members = members.map { ($0.key, $0.value) }
    }

    mutating func add(_ name: String, _ value: Value) {
        members.append((name, value))
    }

    var text: String {
        "{" + members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ",")
            + "}"
    }

    fileprivate static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
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

extension JSONObject.Value {
    /// The value's text, or `null` when there is none.
    init(_ text: String?) {
        self = text.map(Self.string) ?? .null
    }

    init(_ number: Int?) {
        self = number.map { .int(Int64($0)) } ?? .null
    }

    var text: String {
        switch self {
        case .string(let text): JSONObject.quoted(text)
        case .int(let number): String(number)
        case .double(let number):
            number.isFinite ? String((number * 100).rounded() / 100) : "null"
        case .number(let number): number.isFinite ? String(number) : "null"
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        case .object(let object): object.text
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        }
    }
}
