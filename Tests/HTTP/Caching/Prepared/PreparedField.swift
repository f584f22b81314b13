import Foundation

@testable import HalcyonHTTP

/// A value of the collection's data.
enum PreparedValue: Decodable, Hashable, Sendable {
    case null
    case text(String)
    case number(Int)
    case flag(Bool)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else {
            self = .number(try container.decode(Int.self))
        }
    }

    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// A field, or what is expected of one: a name alone, or a list that begins with it.
struct PreparedField: Decodable, Sendable {
    var name: String
    var rest: [PreparedValue]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let name = try? container.decode(String.self) {
            (self.name, rest) = (name, [])
            return
        }
        let list = try container.decode([PreparedValue].self)
        guard let name = list.first?.text else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a field begins with its name")
        }
        (self.name, rest) = (name, Array(list.dropFirst()))
    }

    /// Whether the value that the origin sends is compared with the one that the client gets.
    var isCompared: Bool { rest.count < 2 || rest[1] != .flag(false) }

    /// The value as it is sent. A number in a field of dates is a time in seconds after
    /// `reference`, written in the RFC 850 form if `inRFC850` holds the field's name.
    func value(reference: Date, inRFC850: [String]? = nil) -> String {
        let dates = [
            "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
        ]
        switch rest.first {
        case .number(let seconds) where dates.contains(name.lowercased()):
            let date = reference.addingTimeInterval(TimeInterval(seconds))
            let isRFC850 = inRFC850?.contains(name.lowercased()) ?? false
            return isRFC850 ? HTTPDateText.rfc850(date) : HTTPDateText.fixed(date)
        case .number(let number): return String(number)
        case .text(let text): return text
        default: return ""
        }
    }
}

/// Dates as HTTP writes them.
enum HTTPDateText {
    static func fixed(_ date: Date) -> String { write(date, "%a, %d %b %Y %H:%M:%S GMT") }
    static func rfc850(_ date: Date) -> String { write(date, "%A, %d-%b-%y %H:%M:%S GMT") }
    static func asctime(_ date: Date) -> String { write(date, "%a %b %e %H:%M:%S %Y") }

    private static func write(_ date: Date, _ format: String) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
