import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonWork

enum SettingValue: Hashable, Codable {
    case none
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([SettingValue])
    case table([String: SettingValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // A value is of one of these types; trying finds it.
        if value.decodeNil() {
            self = .none
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([SettingValue].self) {
            self = .list(list)
        } else {
            self = .table(try value.decode([String: SettingValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .none: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .number(let number):
            if let whole = Int(exactly: number) {
                try value.encode(whole)
            } else {
                try value.encode(number)
            }
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .table(let table): try value.encode(table)
        }
    }
}

protocol SettingType: Sendable {
    /// `nil` when `setting` is not of this type. Text is accepted for numbers and flags too, and
    /// with commas for lists, since environment variables have nothing else.
    init?(setting: SettingValue)
    var setting: SettingValue { get }
    /// The expected value, in words that follow "must be".
    static var expected: String { get }
}

extension Bool: SettingType {
    init?(setting: SettingValue) {
        switch setting {
        case .flag(let flag): self = flag
        case .text("true"), .text("1"): self = true
        case .text("false"), .text("0"): self = false
        default: return nil
        }
    }
    var setting: SettingValue { .flag(self) }
    static var expected: String { "true or false" }
}

extension Int: SettingType {
    init?(setting: SettingValue) {
        switch setting {
        case .number(let number): self.init(exactly: number)
        case .text(let text): self.init(text)
        default: return nil
        }
    }
    var setting: SettingValue { .number(Double(self)) }
    static var expected: String { "a whole number" }
}

extension Double: SettingType {
    init?(setting: SettingValue) {
        switch setting {
        case .number(let number): self = number
        case .text(let text):
            guard let number = Double(text), number.isFinite else { return nil }
            self = number
        default: return nil
        }
    }
    var setting: SettingValue { .number(self) }
    static var expected: String { "a number" }
}

extension String: SettingType {
    init?(setting: SettingValue) {
        guard case .text(let text) = setting else { return nil }
        self = text
    }
    var setting: SettingValue { .text(self) }
    static var expected: String { "text" }
}

/// In seconds.
extension Duration: SettingType {
    init?(setting: SettingValue) {
        guard let seconds = Double(setting: setting), (0...1e10).contains(seconds)
        else { return nil }
        self = .milliseconds(Int64((seconds * 1000).rounded()))
    }
    var setting: SettingValue { .number(inSeconds) }
    static var expected: String { "a number of seconds" }
}

/// A setting that is written as its description.
protocol SettingText: SettingType, LosslessStringConvertible {}

extension SettingText {
    init?(setting: SettingValue) {
        guard let text = String(setting: setting) else { return nil }
        self.init(text)
    }
    var setting: SettingValue { .text(description) }
}

extension ListenAddress: SettingText {
    static var expected: String { "HOST:PORT or unix:PATH" }
}

extension SocketMode: SettingText {
    static var expected: String { "permissions in octal digits, such as 0660" }
}

extension IPNetwork: SettingText {
    static var expected: String { "a network such as 10.0.0.0/8" }
}

extension Array: SettingType where Element: SettingType {
    init?(setting: SettingValue) {
        let values: [SettingValue]
        switch setting {
        case .list(let list): values = list
        case .text(let text):
            values = text.split(separator: ",").map {
                .text($0.trimmingCharacters(in: .whitespaces))
            }
        default: return nil
        }
        let elements = values.compactMap(Element.init(setting:))
        guard elements.count == values.count else { return nil }
        self = elements
    }
    var setting: SettingValue { .list(map(\.setting)) }
    static var expected: String { "a list, each of it \(Element.expected)" }
}

extension Optional: SettingType where Wrapped: SettingType {
    init?(setting: SettingValue) {
        self = Wrapped(setting: setting)
        if self == nil, setting != .none { return nil }
    }
    var setting: SettingValue { self?.setting ?? .none }
    static var expected: String { Wrapped.expected }
}

/// In an environment variable: `webp=79,avif=63`.
extension Dictionary: SettingType where Key == String, Value: SettingType {
    init?(setting: SettingValue) {
        switch setting {
        case .table(let table):
            let values = table.compactMapValues(Value.init(setting:))
            guard values.count == table.count else { return nil }
            self = values
        case .text(let text):
            self = [:]
            for pair in text.split(separator: ",") {
                let parts = pair.split(separator: "=", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                guard parts.count == 2, let value = Value(setting: .text(parts[1])) else {
                    return nil
                }
                self[parts[0]] = value
            }
        default: return nil
        }
    }
    var setting: SettingValue { .table(mapValues(\.setting)) }
    static var expected: String { "a table, each of it \(Value.expected)" }
}

protocol SettingChoice: SettingType, RawRepresentable<String>, CaseIterable {}

extension SettingChoice {
    init?(setting: SettingValue) {
        guard let text = String(setting: setting) else { return nil }
        self.init(rawValue: text)
    }
    var setting: SettingValue { .text(rawValue) }
    static var expected: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
}

extension ImageServerConfiguration.ErrorBodies: SettingChoice {}
extension ImageServerConfiguration.SVG: SettingChoice {}
extension ImageServerConfiguration.Truncated: SettingChoice {}
extension DecodingIsolation: SettingChoice {}
extension ImageServerConfiguration.Log.Level: SettingChoice {}
extension ImageServerConfiguration.Log.Format: SettingChoice {}
