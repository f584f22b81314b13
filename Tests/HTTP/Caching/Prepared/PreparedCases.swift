import Foundation

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
