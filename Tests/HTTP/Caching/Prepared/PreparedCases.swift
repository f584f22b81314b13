import Foundation

@testable import HalcyonHTTP

/// The collection http-tests/cache-tests as data, which tests use when it is there.
struct PreparedCases: Decodable, Sendable {
    struct Suite: Decodable, Sendable {
        var tests: [PreparedCase]
    }

    private var suites: [Suite]

    /// The directory named by `HALCYON_HTTP_CACHE_TESTS`, else `../shared/http-cache-tests` seen
    /// from the package.
    static let directory: URL =
        ProcessInfo.processInfo.environment["HALCYON_HTTP_CACHE_TESTS"]
        .map { URL(fileURLWithPath: $0, isDirectory: true) }
        ?? URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // Prepared
        .deletingLastPathComponent()  // Caching
        .deletingLastPathComponent()  // HTTP
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("shared/http-cache-tests")

    static var areThere: Bool {
        FileManager.default.fileExists(
            atPath: directory.appendingPathComponent("private.json").path)
    }

    /// The cases of `private.json` and `shared.json`, read once.
    static let privateSet = Result { try load("private") }
    static let sharedSet = Result { try load("shared") }

    private static func load(_ set: String) throws -> [PreparedCase] {
        let file = directory.appendingPathComponent("\(set).json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(PreparedCases.self, from: Data(contentsOf: file))
            .suites.flatMap(\.tests)
    }
}

/// One case: what a client asks, what the origin answers if it is asked, and what is checked.
struct PreparedCase: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        case required, optimal, check
    }

    var id: String
    var kind: Kind
    var dependsOn: [String]?
    var requests: [Step]

    /// One request of the client. The names are those of the collection.
    struct Step: Decodable, Sendable {
        var requestMethod: String?
        var requestHeaders: [PreparedField]?
        var queryArg: String?
        var filename: String?
        var magicIms: Bool?
        var rfc850date: [String]?
        var cache: String?
        var pauseAfter: Bool?
        var responseStatus: [PreparedValue]?
        var responseHeaders: [PreparedField]?
        var responseBody: String?
        var responsePause: Int?
        var disconnect: Bool?
        var magicLocations: Bool?
        var expectedType: String?
        /// `.null` when the status is not checked.
        var expectedStatus: PreparedValue?
        var expectedMethod: String?
        var expectedRequestHeaders: [PreparedField]?
        var expectedResponseHeaders: [PreparedField]?
        var expectedResponseHeadersMissing: [PreparedField]?
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
