package import Foundation

/// The collection http-tests/cache-tests as data, which tests use when it is there.
package struct PreparedCases: Decodable, Sendable {
    private struct Suite: Decodable, Sendable {
        var tests: [PreparedCase]
    }

    private var suites: [Suite]

    /// The directory named by `HALCYON_HTTP_CACHE_TESTS`, else `../shared/http-cache-tests` seen
    /// from the package.
    private static let directory: URL =
        ProcessInfo.processInfo.environment["HALCYON_HTTP_CACHE_TESTS"]
        .map { URL(fileURLWithPath: $0, isDirectory: true) }
        ?? URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // HTTPCaching
        .deletingLastPathComponent()  // HalcyonTestKit
        .deletingLastPathComponent()  // Support
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("shared/http-cache-tests")

    package static var areThere: Bool {
        FileManager.default.fileExists(
            atPath: directory.appendingPathComponent("private.json").path)
    }

    /// The cases of `private.json` and `shared.json`, read once.
    package static let privateSet = Result { try load("private") }
    package static let sharedSet = Result { try load("shared") }

    private static func load(_ set: String) throws -> [PreparedCase] {
        let file = directory.appendingPathComponent("\(set).json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(PreparedCases.self, from: Data(contentsOf: file))
            .suites.flatMap(\.tests)
    }
}

/// One case: what a client asks, what the origin answers if it is asked, and what is checked.
package struct PreparedCase: Decodable, Sendable {
    package enum Kind: String, Decodable, Sendable {
        case required, optimal, check
    }

    var id: String
    var kind: Kind
    var dependsOn: [String]?
    package var requests: [Step]

    /// One request of the client. The names are those of the collection.
    package struct Step: Decodable, Sendable {
        package var requestMethod: String?
        package var requestHeaders: [PreparedField]?
        var queryArg: String?
        var filename: String?
        var magicIms: Bool?
        var rfc850date: [String]?
        package var cache: String?
        var pauseAfter: Bool?
        package var responseStatus: [PreparedValue]?
        var responseHeaders: [PreparedField]?
        package var responseBody: String?
        var responsePause: Int?
        var disconnect: Bool?
        var magicLocations: Bool?
        var expectedType: String?
        /// `.null` when the status is not checked.
        package var expectedStatus: PreparedValue?
        var expectedMethod: String?
        var expectedRequestHeaders: [PreparedField]?
        package var expectedResponseHeaders: [PreparedField]?
        package var expectedResponseHeadersMissing: [PreparedField]?
        var expectedResponseText: PreparedValue?
        var checkBody: Bool?
    }
}

extension KeyedDecodingContainer {
    /// Decodes a value that is there but `null` as `.null`.
    func decodeIfPresent(_ type: PreparedValue.Type, forKey key: Key) throws -> PreparedValue? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

/// A value of the collection's data.
package enum PreparedValue: Decodable, Hashable, Sendable {
    case null
    case text(String)
    case number(Int)
    case flag(Bool)

    package init(from decoder: any Decoder) throws {
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

    package var number: Int? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// A field, or what is expected of one: a name alone, or a list that begins with it.
package struct PreparedField: Decodable, Sendable {
    var name: String
    var rest: [PreparedValue]

    package init(from decoder: any Decoder) throws {
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
package enum HTTPDateText {
    package static func fixed(_ date: Date) -> String { write(date, "%a, %d %b %Y %H:%M:%S GMT") }
    package static func rfc850(_ date: Date) -> String { write(date, "%A, %d-%b-%y %H:%M:%S GMT") }
    package static func asctime(_ date: Date) -> String { write(date, "%a %b %e %H:%M:%S %Y") }

    private static func write(_ date: Date, _ format: String) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
